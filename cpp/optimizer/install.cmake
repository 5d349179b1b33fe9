# Installs the optimizers' C library under its own prefix (component optimizer) and into the Python package (component
# python).
#
#   prefix   include/  lib/libpaddle_mini_optimizer.{so,a}  lib/pkgconfig/  lib/cmake/  share/paddle_mini/
#   package  paddle_mini/libpaddle_mini_optimizer.so, the rest under paddle_mini/capi laid out as a prefix
#
# A wheel can't contain links: its only shared library is where Python finds it, and the files for pkg-config and CMake
# point there. They use paths relative to themselves, so both trees are relocatable. A full install, which wheels are
# built from, excludes the prefix.
include(CMakePackageConfigHelpers)
set(name paddle_mini_optimizer)
set(made "${PROJECT_BINARY_DIR}/${name}")

function(install_optimizer component prefix shared_dir) # further arguments: EXCLUDE_FROM_ALL, or none
  set(cmake_dir "${prefix}lib/cmake/${name}")
  file(RELATIVE_PATH to_shared "/${prefix}lib/pkgconfig" "/${shared_dir}")
  configure_file("${CMAKE_SOURCE_DIR}/cpp/optimizer/${name}.pc.in" "${made}/${component}/${name}.pc" @ONLY)
  set(shared "${shared_dir}/lib${name}.so")
  set(archive "${prefix}lib/lib${name}.a")
  set(include "${prefix}include")
  configure_package_config_file("${CMAKE_SOURCE_DIR}/cpp/optimizer/${name}Config.cmake.in"
    "${made}/${component}/${name}Config.cmake" INSTALL_DESTINATION "${cmake_dir}" PATH_VARS shared archive include)

  set(belongs COMPONENT ${component} ${ARGN})
  install(TARGETS ${name} LIBRARY DESTINATION "${shared_dir}" ${belongs})
  install(FILES "${PROJECT_BINARY_DIR}/lib${name}.a" DESTINATION "${prefix}lib" ${belongs})
  install(FILES "${CMAKE_SOURCE_DIR}/cpp/capi/paddle_optimizer.h" DESTINATION "${include}" ${belongs})
  install(FILES "${CMAKE_SOURCE_DIR}/proto/optimizer.proto" DESTINATION "${prefix}share/paddle_mini" ${belongs})
  install(FILES "${made}/${component}/${name}.pc" DESTINATION "${prefix}lib/pkgconfig" ${belongs})
  install(FILES "${made}/${component}/${name}Config.cmake" "${made}/${name}ConfigVersion.cmake"
    DESTINATION "${cmake_dir}" ${belongs})
endfunction()

write_basic_package_version_file("${made}/${name}ConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install_optimizer(optimizer "" lib EXCLUDE_FROM_ALL)
install_optimizer(python paddle_mini/capi/ paddle_mini)
