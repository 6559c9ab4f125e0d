# What `cmake --install` lays down: libraries, headers, the fasttrain tool and the package files.
#
#   find_package(libtrain 0.1 COMPONENTS core)       libtrain::core, without LibTorch
#   find_package(libtrain 0.1)                       libtrain::libtrain too, where it was built
include(CMakePackageConfigHelpers)

# libtrain_install_headers(TARGET folder...): every header of those folders of libtrain/ is public.
function(libtrain_install_headers target)
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/libtrain/)
  list(TRANSFORM ARGN APPEND /*.hpp)
  file(GLOB headers CONFIGURE_DEPENDS ${ARGN})
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${headers})
endfunction()

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/libtrain)
libtrain_install_headers(libtrain_core core facts probe plan policy format kernels)
install(TARGETS libtrain_core EXPORT libtrain-core FILE_SET HEADERS)
install(EXPORT libtrain-core NAMESPACE libtrain:: DESTINATION ${package_folder})

if(TARGET libtrain)
  libtrain_install_headers(libtrain runtime amp optim nn data train .)
  install(TARGETS libtrain EXPORT libtrain-libtrain FILE_SET HEADERS)
  install(EXPORT libtrain-libtrain NAMESPACE libtrain:: DESTINATION ${package_folder})
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/FindLibTorch.cmake DESTINATION ${package_folder})
endif()

if(TARGET fasttrain)
  file(RELATIVE_PATH to_libraries ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(fasttrain PROPERTIES INSTALL_RPATH "$ORIGIN/${to_libraries}")
  install(TARGETS fasttrain)
endif()

configure_package_config_file(cmake/libtrainConfig.cmake.in ${PROJECT_BINARY_DIR}/libtrainConfig.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/libtrainConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/libtrainConfig.cmake ${PROJECT_BINARY_DIR}/libtrainConfigVersion.cmake
  DESTINATION ${package_folder})
