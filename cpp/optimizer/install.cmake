# Where the optimizers' C library goes: below a prefix of its own (component optimizer) and into the Python package
# (component python).
#
#   prefix   include/  lib/libpaddle_mini_optimizer.{so,a}  lib/pkgconfig/  lib/cmake/  share/paddle_mini/
#   package  paddle_mini/libpaddle_mini_optimizer.so, and the rest below paddle_mini/capi as below a prefix
#
# A wheel holds no links: its one shared library is where Python looks for it, and the files for pkg-config and CMake
# say that. They name everything by its way from themselves, so both trees may be moved. A full install, which wheels
# are made of, leaves the prefix out.
include(CMakePackageConfigHelpers)
set(name paddle_mini_optimizer)
set(made "${PROJECT_BINARY_DIR}/${name}")

function(install_optimizer component prefix shared_dir) # then EXCLUDE_FROM_ALL, or nothing
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
