# SPDX-License-Identifier: Apache-2.0
# Folders of the source tree as targets: a folder that has no CMakeLists.txt is left out of the build.

# Adds each folder that has a CMakeLists.txt.
function(tollbar_subdirectories)
    foreach(folder IN LISTS ARGN)
        if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/CMakeLists.txt)
            add_subdirectory(${folder})
        endif()
    endforeach()
endfunction()

# tollbar_folder(plan SOURCES plan.cpp ... DEPENDS plan ... LIBRARIES Threads::Threads ...)
#
# Makes the static library tollbar_<name> and has it merged into libtollbar. DEPENDS names other folders by
# their short names, LIBRARIES names anything else that users of the folder must link.
function(tollbar_folder name)
    cmake_parse_arguments(PARSE_ARGV 1 folder "" "" "SOURCES;DEPENDS;LIBRARIES")
    set(target tollbar_${name})
    add_library(${target} STATIC ${folder_SOURCES})
    target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/include PRIVATE ${PROJECT_SOURCE_DIR}/src)
    list(TRANSFORM folder_DEPENDS PREPEND tollbar_)
    target_link_libraries(${target} PUBLIC ${folder_DEPENDS} ${folder_LIBRARIES})
    target_link_libraries(${target} PRIVATE tollbar_warnings)
    tollbar_precompile(${target} tollbar_plan algorithm array charconv chrono cstdint functional map memory mutex optional
                       stdexcept string vector)
    if(TOLLBAR_CHECKED)
        target_compile_definitions(${target} PUBLIC TOLLBAR_CHECKED=1)
    endif()
    set_property(GLOBAL APPEND PROPERTY TOLLBAR_FOLDERS ${target})
endfunction()
