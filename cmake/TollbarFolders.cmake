# SPDX-License-Identifier: Apache-2.0
# Folders of the source tree as targets.

# Adds folders in this order; a missing one is an error.
function(tollbar_subdirectories)
    foreach(folder IN LISTS ARGN)
        add_subdirectory(${folder})
    endforeach()
endfunction()

# tollbar_folder(plan SOURCES plan.cpp ... DEPENDS plan ... LIBRARIES Threads::Threads ... [LIBRARY models] [SMALL])
#
# Makes the static library tollbar_<name> and has it merged into libtollbar, or into libtollbar-models where LIBRARY
# says so. DEPENDS names other folders by their short names, LIBRARIES names anything else that users of the folder must
# link. SMALL is for a folder without a loop that threads wait in or that proofs run: a release build of it is small
# instead of fast.
set(TOLLBAR_SMALL $<$<CONFIG:Release>:-Os>)
function(tollbar_folder name)
    cmake_parse_arguments(PARSE_ARGV 1 folder "SMALL" "LIBRARY" "SOURCES;DEPENDS;LIBRARIES")
    if(NOT folder_LIBRARY)
        set(folder_LIBRARY tollbar)
    endif()
    set(target tollbar_${name})
    add_library(${target} STATIC ${folder_SOURCES})
    target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/include PRIVATE ${PROJECT_SOURCE_DIR}/src)
    # What is public is said by the headers in include/ and by src/exports.map.
    set_target_properties(${target} PROPERTIES C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden
                                               VISIBILITY_INLINES_HIDDEN TRUE)
    if(folder_SMALL)
        target_compile_options(${target} PRIVATE ${TOLLBAR_SMALL})
    endif()
    tollbar_unity(${target})
    list(TRANSFORM folder_DEPENDS PREPEND tollbar_)
    target_link_libraries(${target} PUBLIC ${folder_DEPENDS} ${folder_LIBRARIES})
    target_link_libraries(${target} PRIVATE tollbar_warnings)
    tollbar_precompile(${target} tollbar_plan algorithm array charconv chrono cstdint functional map memory mutex optional
                       stdexcept string vector)
    if(TOLLBAR_CHECKED)
        target_compile_definitions(${target} PUBLIC TOLLBAR_CHECKED=1)
    endif()
    if(NOT folder_LIBRARY STREQUAL tollbar)  # built with its library
        set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL TRUE)
    endif()
    set_property(GLOBAL APPEND PROPERTY TOLLBAR_FOLDERS_${folder_LIBRARY} ${target})
endfunction()

# tollbar_targets_below(<variable> folder): the targets that the build files of a folder and of those in it make.
function(tollbar_targets_below variable folder)
    get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
    get_property(subfolders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
    foreach(subfolder IN LISTS subfolders)
        tollbar_targets_below(further ${subfolder})
        list(APPEND targets ${further})
    endforeach()
    set(${variable} ${targets} PARENT_SCOPE)
endfunction()

# tollbar_extend(target source...): sources of the folder that calls this become a part of a target from elsewhere, which
# goes without them where the folder is not there.
function(tollbar_extend target)
    list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ OUTPUT_VARIABLE sources)
    target_sources(${target} PRIVATE ${sources})
    set_property(TARGET ${target} APPEND PROPERTY TOLLBAR_EXTENSIONS ${sources})
endfunction()

# tollbar_apart(folder): an error when a target from outside the folder links, compiles or includes what lies in it. To
# be called last of all.
function(tollbar_apart folder)
    set(path ${PROJECT_SOURCE_DIR}/${folder})
    tollbar_targets_below(inside ${path})
    tollbar_targets_below(outside ${PROJECT_SOURCE_DIR})
    list(REMOVE_ITEM outside ${inside})
    foreach(target IN LISTS outside)
        set(uses "")
        get_target_property(extensions ${target} TOLLBAR_EXTENSIONS)
        foreach(property IN ITEMS SOURCES LINK_LIBRARIES INTERFACE_LINK_LIBRARIES INCLUDE_DIRECTORIES
                                  INTERFACE_INCLUDE_DIRECTORIES)
            get_target_property(values ${target} ${property})
            foreach(value IN LISTS values)
                if(TARGET ${value})
                    get_target_property(aliased ${value} ALIASED_TARGET)
                    if(aliased)
                        set(value ${aliased})
                    endif()
                endif()
                string(FIND "${value}/" "${path}/" at)
                if(value IN_LIST extensions)
                    continue()
                endif()
                if(value IN_LIST inside OR NOT at EQUAL -1)
                    list(APPEND uses ${value})
                endif()
            endforeach()
        endforeach()
        if(uses)
            message(FATAL_ERROR "${target} is not of ${folder}/ and uses it: ${uses}")
        endif()
    endforeach()
endfunction()
