# SPDX-License-Identifier: Apache-2.0
# The libraries that users link, each shared and static and made of its folders' objects, and how they are installed.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(TOLLBAR_PROGRAM_DIR ${CMAKE_INSTALL_LIBEXECDIR}/tollbar CACHE STRING "Where the measuring programs are installed")
set(TOLLBAR_SONAME 0)  # moves with a change that breaks compiled programs: docs/reference/stability.md
set(TOLLBAR_CONFIG_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/tollbar)

# tollbar_library(target folders name export export_static): the shared library of those folders, and the static one as
# the target <target>_static. Both files have that name; users link tollbar::<export> or tollbar::<export_static>.
function(tollbar_library target folders name export export_static)
    get_property(objects GLOBAL PROPERTY TOLLBAR_FOLDERS_${folders})
    list(TRANSFORM objects REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")
    add_library(${target} SHARED ${objects})
    add_library(${target}_static STATIC ${objects})
    add_library(tollbar::${export} ALIAS ${target})
    add_library(tollbar::${export_static} ALIAS ${target}_static)
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} EXPORT_NAME ${export})
    set_target_properties(${target}_static PROPERTIES OUTPUT_NAME ${name} EXPORT_NAME ${export_static})
    if(NOT TOLLBAR_SANITIZE)  # a sanitizer's symbols come from the program
        target_link_options(${target} PRIVATE LINKER:--no-undefined)
    endif()
    set(exports ${PROJECT_SOURCE_DIR}/src/exports.map)
    target_link_options(${target} PRIVATE LINKER:--version-script=${exports} LINKER:--exclude-libs,ALL)
    set_target_properties(${target} PROPERTIES LINK_DEPENDS ${exports})
    if(NOT SKBUILD)  # a wheel holds no symbolic links
        set_target_properties(${target} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${TOLLBAR_SONAME})
    endif()
    foreach(library IN ITEMS ${target} ${target}_static)
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
endfunction()

tollbar_library(tollbar tollbar tollbar tollbar static)

configure_package_config_file(
    cmake/tollbarConfig.cmake.in ${PROJECT_BINARY_DIR}/tollbarConfig.cmake
    INSTALL_DESTINATION ${TOLLBAR_CONFIG_DIR})
write_basic_package_version_file(
    ${PROJECT_BINARY_DIR}/tollbarConfigVersion.cmake COMPATIBILITY SameMinorVersion)
# The prefix is found from where the file lies, so that an installed tree may be moved.
file(RELATIVE_PATH TOLLBAR_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)

# tollbar_describe(package library description requires component): installs <package>.pc for pkg-config.
function(tollbar_describe package library description requires component)
    configure_file(${PROJECT_SOURCE_DIR}/cmake/package.pc.in ${PROJECT_BINARY_DIR}/${package}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${package}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT ${component})
endfunction()

# tollbar_install_library(target export description): a complete library that a program of a foreign interface links, as
# tollbar::<export> of find_package and as tollbar-<export> of pkg-config.
function(tollbar_install_library target export description)
    set_target_properties(${target} PROPERTIES EXPORT_NAME ${export})
    target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                                   $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    if(TOLLBAR_INSTALL)
        install(TARGETS ${target} EXPORT tollbar_${export}Targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
        install(EXPORT tollbar_${export}Targets NAMESPACE tollbar:: DESTINATION ${TOLLBAR_CONFIG_DIR})
        string(REPLACE "_" "-" package ${target})
        tollbar_describe(${package} ${target} "${description}" "" Unspecified)
    endif()
endfunction()

if(TOLLBAR_INSTALL)
    install(DIRECTORY include/tollbar DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
            FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
    install(TARGETS tollbar tollbar_static EXPORT tollbarTargets)
    install(EXPORT tollbarTargets NAMESPACE tollbar:: DESTINATION ${TOLLBAR_CONFIG_DIR})
    install(FILES ${PROJECT_BINARY_DIR}/tollbarConfig.cmake ${PROJECT_BINARY_DIR}/tollbarConfigVersion.cmake
            DESTINATION ${TOLLBAR_CONFIG_DIR})
    tollbar_describe(tollbar tollbar "${PROJECT_DESCRIPTION}" "" Unspecified)
endif()

# Installs those of the measuring programs that were built.
function(tollbar_install_programs)
    foreach(program IN LISTS ARGN)
        if(TARGET ${program})
            install(TARGETS ${program} RUNTIME DESTINATION ${TOLLBAR_PROGRAM_DIR})
        endif()
    endforeach()
endfunction()
