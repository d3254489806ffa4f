# Installs a build of Davit into PREFIX, copies the examples to WORK, builds them there against that installation,
# runs their tests, and installs them beside the rest:
#
#   cmake -D BUILD=<build folder> -D PREFIX=<where to> -D WORK=<scratch folder> -P build_outside.cmake
#
# WORK/<example>/<example>.so and PREFIX/lib/davit/plugins/<example>.so exist afterwards. Optional: SANITIZE (what
# the build was made with), CMAKE_C_COMPILER, CMAKE_CXX_COMPILER.
cmake_minimum_required(VERSION 3.25)
foreach(needed BUILD PREFIX WORK)
  if(NOT ${needed})
    message(FATAL_ERROR "-D ${needed}=... is missing")
  endif()
endforeach()

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(failed)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\n${output}")
  endif()
endfunction()

set(options -D CMAKE_PREFIX_PATH=${PREFIX} -D CMAKE_BUILD_TYPE=Debug)
foreach(language C CXX)
  if(CMAKE_${language}_COMPILER)
    list(APPEND options -D CMAKE_${language}_COMPILER=${CMAKE_${language}_COMPILER})
  endif()
  if(SANITIZE)
    list(APPEND options "-DCMAKE_${language}_FLAGS=-fsanitize=${SANITIZE} -fno-sanitize-recover=all"
      -D DAVIT_SANITIZED=ON)
  endif()
endforeach()

# A stale installation or configuration would hide what this is to find.
file(REMOVE_RECURSE ${PREFIX} ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX})
foreach(example kind_widget status_tee secrets_directory region_copy)
  file(COPY ${CMAKE_CURRENT_LIST_DIR}/${example} DESTINATION ${WORK}/source)
  run(${CMAKE_COMMAND} -S ${WORK}/source/${example} -B ${WORK}/${example} ${options})
  run(${CMAKE_COMMAND} --build ${WORK}/${example})
  run(${CMAKE_CTEST_COMMAND} --test-dir ${WORK}/${example} --output-on-failure --no-tests=error)
  run(${CMAKE_COMMAND} --install ${WORK}/${example} --prefix ${PREFIX})
endforeach()
