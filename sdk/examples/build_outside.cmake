# Installs a build of Davit into PREFIX, and then uses nothing else: builds the installed examples in WORK, runs their
# tests, installs them beside the rest, and runs the installed davit-conformance with every installed configuration:
#
#   cmake -D BUILD=<build folder> -D PREFIX=<where to> -D WORK=<scratch folder> -P build_outside.cmake
#
# WORK/<example>/*.so and the same in PREFIX/lib/davit/plugins exist afterwards. Optional: SANITIZE (what
# the build was made with), CMAKE_C_COMPILER, CMAKE_CXX_COMPILER, COMPILER_LAUNCHER (such as ccache), and
# LAUNCHER_<plugin>, a program that runs the command which it is given while the service is there that the plugin needs.
# It ends with 77 when there can be no such service.
cmake_minimum_required(VERSION 3.25)
foreach(needed BUILD PREFIX WORK)
  if(NOT ${needed})
    message(FATAL_ERROR "-D ${needed}=... is missing")
  endif()
endforeach()

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(failed AND NOT failed EQUAL 77)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\n${output}")
  endif()
endfunction()

set(options -D CMAKE_PREFIX_PATH=${PREFIX} -D CMAKE_BUILD_TYPE=Debug)
foreach(language C CXX)
  if(CMAKE_${language}_COMPILER)
    list(APPEND options -D CMAKE_${language}_COMPILER=${CMAKE_${language}_COMPILER})
  endif()
  if(COMPILER_LAUNCHER)
    list(APPEND options -D CMAKE_${language}_COMPILER_LAUNCHER=${COMPILER_LAUNCHER})
  endif()
  if(SANITIZE)
    list(APPEND options "-DCMAKE_${language}_FLAGS=-fsanitize=${SANITIZE} -fno-sanitize-recover=all"
      -D DAVIT_SANITIZED=ON)
  endif()
endforeach()

# A stale installation or configuration would hide what this is to find.
file(REMOVE_RECURSE ${PREFIX} ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX})

# From here on nothing but the installation is used.
set(source ${PREFIX}/share/doc/davit/examples)
foreach(example actuator_directory kind_widget status_tee secrets_directory storage_log records_memory region_copy roles)
  run(${CMAKE_COMMAND} -S ${source}/${example} -B ${WORK}/${example} ${options})
  run(${CMAKE_COMMAND} --build ${WORK}/${example})
  run(${CMAKE_CTEST_COMMAND} --test-dir ${WORK}/${example} --output-on-failure --no-tests=error)
  run(${CMAKE_COMMAND} --install ${WORK}/${example} --prefix ${PREFIX})
endforeach()

# Every installed configuration fits its installed plugin: it starts. What it does then is for the tests in the tree.
file(GLOB configurations ${PREFIX}/share/davit/conformance/*/conformance.conf)
foreach(configuration IN LISTS configurations)
  cmake_path(GET configuration PARENT_PATH folder)
  cmake_path(GET folder FILENAME plugin)
  if(EXISTS ${PREFIX}/lib/davit/plugins/${plugin}.so)
    execute_process(COMMAND ${LAUNCHER_${plugin}} ${PREFIX}/bin/davit-conformance --filter Plugin.*:Kind*
      --config ${configuration} ${PREFIX}/lib/davit/plugins/${plugin}.so RESULT_VARIABLE ended)
    # 77: the service is not to be had here.
    if(NOT ended STREQUAL 0 AND NOT ended STREQUAL 77)
      message(FATAL_ERROR "davit-conformance of ${plugin} ended with ${ended}")
    endif()
  else()
    message(FATAL_ERROR "${configuration} is installed, and ${plugin}.so is not")
  endif()
endforeach()

foreach(page man1/davit-conformance.1 man1/davit-seal.1 man7/davit-plugin.7)
  if(NOT EXISTS ${PREFIX}/share/man/${page})
    message(FATAL_ERROR "the manual ${page} is not installed")
  endif()
endforeach()

foreach(role README actuator storage kind change_sink status_sink gate cluster secrets records rpc)
  if(NOT EXISTS ${PREFIX}/share/doc/davit/manual/${role}.md)
    message(FATAL_ERROR "the page ${role}.md of the manual is not installed")
  endif()
endforeach()

# Without CMake: the flags of davit.pc are enough for the headers.
find_program(pkg_config pkg-config REQUIRED)
set(ENV{PKG_CONFIG_PATH} ${PREFIX}/lib/pkgconfig)
execute_process(COMMAND ${pkg_config} --cflags davit OUTPUT_VARIABLE flags RESULT_VARIABLE failed
  OUTPUT_STRIP_TRAILING_WHITESPACE)
if(failed)
  message(FATAL_ERROR "pkg-config does not find davit in ${PREFIX}")
endif()
if(NOT CMAKE_C_COMPILER)
  set(CMAKE_C_COMPILER cc)
endif()
separate_arguments(flags UNIX_COMMAND "${flags}")
run(${CMAKE_C_COMPILER} -std=c99 -fsyntax-only ${flags} "-DDAVIT_PLUGIN_VERSION=\"1\""
  ${source}/status_tee/status_tee.c)

# Without CMake and the headers of the day: what is frozen of the ABI is enough for a plugin.
execute_process(COMMAND ${pkg_config} --variable=abidir davit OUTPUT_VARIABLE abi OUTPUT_STRIP_TRAILING_WHITESPACE)
file(GLOB frozen ${abi}/*/include)
if(NOT frozen)
  message(FATAL_ERROR "no frozen ABI is installed in ${abi}")
endif()
foreach(include IN LISTS frozen)
  cmake_path(GET include PARENT_PATH copy)
  file(MAKE_DIRECTORY ${WORK}/frozen)
  run(${CMAKE_C_COMPILER} -std=c99 -fPIC -shared -I ${include} -Wl,--version-script=${copy}/plugin.map
    "-DDAVIT_PLUGIN_NAME=\"status_tee\"" "-DDAVIT_PLUGIN_VERSION=\"1.0.0\""
    "-DDAVIT_PLUGIN_ROLES=\"status_sink/1\"" "-DDAVIT_PLUGIN_NEEDS=\"\""
    ${source}/status_tee/status_tee.c ${copy}/note.c -lpthread -o ${WORK}/frozen/status_tee.so)
  run(${PREFIX}/bin/davit-conformance --config ${PREFIX}/share/davit/conformance/status_tee/conformance.conf
    ${WORK}/frozen/status_tee.so)
endforeach()
