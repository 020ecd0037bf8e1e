# SPDX-License-Identifier: Apache-2.0
# The one library users link, shared and static, made of every folder's objects.
get_property(folders GLOBAL PROPERTY TOLLBAR_FOLDERS)
set(objects ${folders})
list(TRANSFORM objects REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")

add_library(tollbar SHARED ${objects})
add_library(tollbar_static STATIC ${objects})
add_library(tollbar::tollbar ALIAS tollbar)
add_library(tollbar::static ALIAS tollbar_static)
set_target_properties(tollbar PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
set_target_properties(tollbar_static PROPERTIES OUTPUT_NAME tollbar EXPORT_NAME static)

foreach(library tollbar tollbar_static)
    target_compile_features(${library} PUBLIC cxx_std_20)
    target_include_directories(${library} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
    target_link_libraries(${library} PUBLIC Threads::Threads)
    if(TOLLBAR_CHECKED)
        target_compile_definitions(${library} PUBLIC TOLLBAR_CHECKED=1)
    endif()
    set_target_properties(${library} PROPERTIES LINKER_LANGUAGE CXX)
endforeach()
