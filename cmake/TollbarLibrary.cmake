# SPDX-License-Identifier: Apache-2.0
# The one library users link, shared and static, made of every folder's objects, and how it is installed.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(TOLLBAR_PROGRAM_DIR ${CMAKE_INSTALL_LIBEXECDIR}/tollbar CACHE STRING "Where the measuring programs are installed")
set(TOLLBAR_CONFIG_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/tollbar)

get_property(folders GLOBAL PROPERTY TOLLBAR_FOLDERS)
list(TRANSFORM folders REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
add_library(tollbar SHARED ${objects})
add_library(tollbar_static STATIC ${objects})
add_library(tollbar::tollbar ALIAS tollbar)
add_library(tollbar::static ALIAS tollbar_static)
set_target_properties(tollbar_static PROPERTIES OUTPUT_NAME tollbar EXPORT_NAME static)
if(NOT TOLLBAR_SANITIZE)  # a sanitizer's symbols come from the program
    target_link_options(tollbar PRIVATE -Wl,--no-undefined)
endif()
if(NOT SKBUILD)  # a wheel holds no symbolic links
    set_target_properties(tollbar PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
endif()

foreach(library IN ITEMS tollbar tollbar_static)
    target_compile_features(${library} PUBLIC cxx_std_20)
    target_include_directories(
        ${library} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                          $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_libraries(${library} PUBLIC Threads::Threads)
    if(TOLLBAR_CHECKED)
        target_compile_definitions(${library} PUBLIC TOLLBAR_CHECKED=1)
    endif()
    set_target_properties(${library} PROPERTIES LINKER_LANGUAGE CXX)
endforeach()

configure_package_config_file(
    cmake/tollbarConfig.cmake.in ${PROJECT_BINARY_DIR}/tollbarConfig.cmake
    INSTALL_DESTINATION ${TOLLBAR_CONFIG_DIR})
write_basic_package_version_file(
    ${PROJECT_BINARY_DIR}/tollbarConfigVersion.cmake COMPATIBILITY SameMinorVersion)
# The prefix is found from where the file lies, so that an installed tree may be moved.
file(RELATIVE_PATH TOLLBAR_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/tollbar.pc.in ${PROJECT_BINARY_DIR}/tollbar.pc @ONLY)

if(TOLLBAR_INSTALL)
    install(DIRECTORY include/tollbar DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
    install(TARGETS tollbar tollbar_static EXPORT tollbarTargets)
    install(EXPORT tollbarTargets NAMESPACE tollbar:: DESTINATION ${TOLLBAR_CONFIG_DIR})
    install(FILES ${PROJECT_BINARY_DIR}/tollbarConfig.cmake ${PROJECT_BINARY_DIR}/tollbarConfigVersion.cmake
            DESTINATION ${TOLLBAR_CONFIG_DIR})
    install(FILES ${PROJECT_BINARY_DIR}/tollbar.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

# Installs those of the measuring programs that were built.
function(tollbar_install_programs)
    foreach(program IN LISTS ARGN)
        if(TARGET ${program})
            install(TARGETS ${program} RUNTIME DESTINATION ${TOLLBAR_PROGRAM_DIR})
        endif()
    endforeach()
endfunction()
