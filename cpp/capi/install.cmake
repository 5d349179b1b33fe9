# Installs a C library under its own prefix and into the Python package (component python):
#
#   prefix   include/  lib/  lib/pkgconfig/  lib/cmake/
#   package  the shared libraries in paddle_mini/, the rest under paddle_mini/capi laid out as a prefix
#
# A wheel can't contain links: its only shared library is where Python finds it, and the files for pkg-config and CMake
# point there. They use paths relative to themselves, so both trees are relocatable. A full install, which wheels are
# built from, excludes the prefix.
include(CMakePackageConfigHelpers)

# FOLDER has NAME.pc.in and NAMEConfig.cmake.in, which may use to_shared, PACKAGE_shared, PACKAGE_archive and
# PACKAGE_include. Further arguments of install(): EXCLUDE_FROM_ALL, or none.
function(install_c_library folder name component prefix shared_dir headers)
  set(made "${PROJECT_BINARY_DIR}/c_libraries/${name}")
  set(cmake_dir "${prefix}lib/cmake/${name}")
  file(RELATIVE_PATH to_shared "/${prefix}lib/pkgconfig" "/${shared_dir}")
  configure_file("${folder}/${name}.pc.in" "${made}/${component}/${name}.pc" @ONLY)
  set(shared "${shared_dir}/lib${name}.so")
  set(archive "${prefix}lib/lib${name}.a")
  set(include "${prefix}include")
  configure_package_config_file("${folder}/${name}Config.cmake.in" "${made}/${component}/${name}Config.cmake"
    INSTALL_DESTINATION "${cmake_dir}" PATH_VARS shared archive include)
  write_basic_package_version_file("${made}/${name}ConfigVersion.cmake" COMPATIBILITY SameMinorVersion)

  set(belongs COMPONENT ${component} ${ARGN})
  install(FILES ${headers} DESTINATION "${include}" ${belongs})
  install(FILES "${made}/${component}/${name}.pc" DESTINATION "${prefix}lib/pkgconfig" ${belongs})
  install(FILES "${made}/${component}/${name}Config.cmake" "${made}/${name}ConfigVersion.cmake"
    DESTINATION "${cmake_dir}" ${belongs})
endfunction()
