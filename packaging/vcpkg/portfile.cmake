# SPDX-License-Identifier: Apache-2.0
# vcpkg's port, to be used as an overlay from this checkout: the C and C++ library and its models.
# For a registry, vcpkg_from_git(...) with the release's tag takes the place of SOURCE_PATH.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)

vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS -DTOLLBAR_TESTS=OFF -DTOLLBAR_BENCH=OFF -DTOLLBAR_PYTHON=OFF -DTOLLBAR_DOORS=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/tollbar)
vcpkg_fixup_pkgconfig()

# A triplet has one kind of library; tollbarConfig.cmake names both, so both stay.
set(VCPKG_POLICY_DLLS_IN_STATIC_LIBRARY enabled)
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
