# Installs the optimizers' C library under its own prefix (component optimizer) and into the Python package.
include("${CMAKE_SOURCE_DIR}/cpp/capi/install.cmake")

function(install_optimizer component prefix shared_dir) # further arguments: EXCLUDE_FROM_ALL, or none
  install_c_library("${CMAKE_SOURCE_DIR}/cpp/optimizer" paddle_mini_optimizer ${component} "${prefix}" "${shared_dir}"
    "${CMAKE_SOURCE_DIR}/cpp/capi/paddle_optimizer.h" ${ARGN})
  set(belongs COMPONENT ${component} ${ARGN})
  install(TARGETS paddle_mini_optimizer LIBRARY DESTINATION "${shared_dir}" ${belongs})
  install(FILES "${PROJECT_BINARY_DIR}/libpaddle_mini_optimizer.a" DESTINATION "${prefix}lib" ${belongs})
  install(FILES "${CMAKE_SOURCE_DIR}/proto/optimizer.proto" DESTINATION "${prefix}share/paddle_mini" ${belongs})
endfunction()

install_optimizer(optimizer "" lib EXCLUDE_FROM_ALL)
install_optimizer(python paddle_mini/capi/ paddle_mini)
