# Every function the objects of one instruction set offer to the linker lies in that set's namespace. One
# outside it (an inline function of a standard header, say) could be picked for the whole program and
# then run on a CPU without these instructions.
execute_process(COMMAND ${NM} --defined-only --extern-only --demangle ${OBJECTS}
  OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" ";" symbols "${symbols}")
set(seen 0)
foreach(line IN LISTS symbols)
  if(line MATCHES "^[0-9a-f]+ [A-Za-z] (.*)$")
    set(symbol "${CMAKE_MATCH_1}")
    math(EXPR seen "${seen} + 1")
    if(NOT symbol MATCHES "libtrain::kernels::${ISA}::")
      message(FATAL_ERROR "outside libtrain::kernels::${ISA}: ${symbol}")
    endif()
  endif()
endforeach()
if(seen LESS 10)
  message(FATAL_ERROR "${NM} showed only ${seen} symbols of ${OBJECTS}")
endif()
