# Installs BUILD and moves the result to PREFIX: what was installed must not know where it was.
file(REMOVE_RECURSE ${PREFIX} ${PREFIX}-staging)
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX}-staging COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${PREFIX}-staging ${PREFIX})
