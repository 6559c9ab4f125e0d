# What `cmake --install` lays down: libraries, headers, the fasttrain tool and the package files.
#
#   find_package(libtrain 0.1 COMPONENTS core)       libtrain::core, without LibTorch
#   find_package(libtrain 0.1)                       libtrain::libtrain and libtrain::sim too, where they were built
include(CMakePackageConfigHelpers)

# What these headers include, and what that includes, is public. The rest stays in the source tree.
set(core_roots
  cli/exit_code.hpp
  core/require.hpp core/warning.hpp
  facts/machine.hpp facts/machine_file.hpp facts/measured_file.hpp facts/redact.hpp facts/view.hpp
  format/json.hpp format/json_fields.hpp format/safetensors.hpp format/tsv.hpp format/wordpiece.hpp
  plan/explain.hpp plan/make_plan.hpp plan/model_presets.hpp plan/nearest_name.hpp plan/option_table.hpp plan/tuning.hpp
  policy/early_stop.hpp policy/loss_scale.hpp policy/schedule.hpp policy/skip_counter.hpp
  probe/measured.hpp probe/probe.hpp)
set(libtrain_roots
  libtrain.hpp
  amp/planned_autocast.hpp
  runtime/model_facts.hpp)
set(sim_roots sim/faults.hpp sim/host_waits.hpp sim/races.hpp sim/sim.hpp)

# libtrain_reachable_headers(RESULT root...): the headers of libtrain/ that the roots reach, as absolute paths.
function(libtrain_reachable_headers result)
  set(open ${ARGN})
  set(reached)
  while(open)
    list(POP_FRONT open header)
    if(header IN_LIST reached OR NOT EXISTS ${PROJECT_SOURCE_DIR}/libtrain/${header})
      continue()
    endif()
    list(APPEND reached ${header})
    file(STRINGS ${PROJECT_SOURCE_DIR}/libtrain/${header} lines REGEX "^#include \"libtrain/")
    list(TRANSFORM lines REPLACE "^#include \"libtrain/([^\"]+)\".*" "\\1")
    list(APPEND open ${lines})
  endwhile()
  list(TRANSFORM reached PREPEND ${PROJECT_SOURCE_DIR}/libtrain/)
  set(${result} ${reached} PARENT_SCOPE)
endfunction()

function(libtrain_public_headers target)
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${ARGN})
endfunction()

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/libtrain)
libtrain_reachable_headers(core_headers ${core_roots})
libtrain_public_headers(libtrain_core ${core_headers})
install(TARGETS libtrain_core EXPORT libtrain-core FILE_SET HEADERS)
install(EXPORT libtrain-core NAMESPACE libtrain:: DESTINATION ${package_folder})

if(TARGET libtrain)
  libtrain_reachable_headers(headers ${libtrain_roots})
  list(REMOVE_ITEM headers ${core_headers})
  libtrain_public_headers(libtrain ${headers})
  install(TARGETS libtrain EXPORT libtrain-libtrain FILE_SET HEADERS)
  libtrain_reachable_headers(sim_headers ${sim_roots})
  list(REMOVE_ITEM sim_headers ${core_headers} ${headers})
  libtrain_public_headers(libtrain_sim ${sim_headers})
  install(TARGETS libtrain_sim EXPORT libtrain-libtrain FILE_SET HEADERS)
  install(EXPORT libtrain-libtrain NAMESPACE libtrain:: DESTINATION ${package_folder})
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/FindLibTorch.cmake DESTINATION ${package_folder})
endif()

file(RELATIVE_PATH to_libraries ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
foreach(program fasttrain_cli fasttrain_step_time)
  if(TARGET ${program})
    set_target_properties(${program} PROPERTIES INSTALL_RPATH "$ORIGIN/${to_libraries};${LibTorch_LIBRARY_DIR}")
    install(TARGETS ${program})
  endif()
endforeach()

configure_package_config_file(cmake/libtrainConfig.cmake.in ${PROJECT_BINARY_DIR}/libtrainConfig.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/libtrainConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/libtrainConfig.cmake ${PROJECT_BINARY_DIR}/libtrainConfigVersion.cmake
  DESTINATION ${package_folder})
