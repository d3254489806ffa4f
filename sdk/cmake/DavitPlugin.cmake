# davit_add_plugin(), davit_add_cargo_plugin() and davit_embed_descriptors(): how a plugin is built, inside this tree and outside of it.

set(DAVIT_SDK_CMAKE_DIR ${CMAKE_CURRENT_LIST_DIR} CACHE INTERNAL "")
set(DAVIT_ABI_LOWEST 1.0 CACHE INTERNAL "")

# davit_embed_descriptors(NAME PROTO file [PROTO_PATH dir...])
#
# Makes an object library NAME with the FileDescriptorSet of a .proto file (imports included), to link into a
# plugin; "NAME.h" offers davit_bytes NAME(void). Needs protoc, not protobuf. The set has the comments of the file:
# `davit explain KIND.FIELD` prints them.
function(davit_embed_descriptors NAME)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PROTO" "PROTO_PATH")
  if(NOT arg_PROTO_PATH)
    set(arg_PROTO_PATH ${CMAKE_CURRENT_SOURCE_DIR})
  endif()
  find_program(DAVIT_PROTOC protoc REQUIRED)
  set(name ${NAME})
  set(PROTO ${arg_PROTO})
  set(at "@")
  set(dir ${CMAKE_CURRENT_BINARY_DIR}/${NAME}.dir)
  set(file ${dir}/${NAME}.pb)
  configure_file(${DAVIT_SDK_CMAKE_DIR}/descriptors.c.in ${dir}/${NAME}.c @ONLY)
  configure_file(${DAVIT_SDK_CMAKE_DIR}/descriptors.h.in ${dir}/${NAME}.h @ONLY)
  set(paths)
  set(inputs)
  foreach(path IN LISTS arg_PROTO_PATH)
    list(APPEND paths --proto_path=${path})
    if(EXISTS ${path}/${arg_PROTO})
      list(APPEND inputs ${path}/${arg_PROTO})
    endif()
  endforeach()
  add_custom_command(
    OUTPUT ${file}
    COMMAND ${DAVIT_PROTOC} ${paths} --include_imports --include_source_info --descriptor_set_out=${file} --dependency_out=${file}.d ${arg_PROTO}
    DEPENDS ${inputs}
    DEPFILE ${file}.d
    COMMENT "descriptor set of ${arg_PROTO}")
  set_source_files_properties(${dir}/${NAME}.c PROPERTIES OBJECT_DEPENDS ${file})
  add_custom_target(${NAME}_file DEPENDS ${file})
  add_library(${NAME} OBJECT ${dir}/${NAME}.c)
  add_dependencies(${NAME} ${NAME}_file)
  # In one unit with others the file would lose OBJECT_DEPENDS, and would keep the descriptor set of an earlier build.
  set_target_properties(${NAME} PROPERTIES POSITION_INDEPENDENT_CODE ON UNITY_BUILD OFF)
  target_link_libraries(${NAME} PUBLIC Davit::sdk)
  target_include_directories(${NAME} PUBLIC ${dir})
endfunction()

# davit_write_note(FILE NAME name ABI 1.0 VERSION 1.2.3 [ROLES role/1...] [NEEDS word...])
#
# Writes the C file with a plugin's ELF note. abi/core.h says what is in it. It does not compile when the SDK is older
# than the ABI that it names.
function(davit_write_note FILE)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "NAME;ABI;VERSION" "ROLES;NEEDS")
  list(JOIN arg_ROLES "," roles)
  list(JOIN arg_NEEDS "," needs)
  string(REPLACE "." ";" abi ${arg_ABI})
  list(GET abi 0 abi_major)
  list(GET abi 1 abi_minor)
  set(name ${arg_NAME})
  set(at "@")
  set(note_text "abi=${arg_ABI}\\nname=${arg_NAME}\\nversion=${arg_VERSION}\\nroles=${roles}\\nneeds=${needs}\\n")
  # The text's length with each "\n" as one character, and its terminating zero.
  string(REPLACE "\\n" "n" counted "${note_text}")
  string(LENGTH "${counted}" length)
  math(EXPR note_size "${length} + 1")
  configure_file(${DAVIT_SDK_CMAKE_DIR}/note.c.in ${FILE} @ONLY)
endfunction()

# Installs a configuration for davit-conformance, and the files beside it that its `conformance.` keys name.
function(davit_install_conformance NAME CONFIG)
  include(GNUInstallDirs)
  set(to ${CMAKE_INSTALL_DATADIR}/davit/conformance/${NAME})
  install(FILES ${CONFIG} DESTINATION ${to} RENAME conformance.conf)
  cmake_path(GET CONFIG PARENT_PATH folder)
  file(STRINGS ${CONFIG} lines REGEX "^conformance[.][a-z]+ *= *\"[^/\"]+[.]json\"")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^[^\"]*\"([^\"]+)\".*$" "\\1" file "${line}")
    install(FILES ${folder}/${file} DESTINATION ${to})
  endforeach()
endfunction()

# Where the host looks for plugins, unless DAVIT_PLUGIN_INSTALL_DIR says another place.
macro(davit_set_install_dir)
  if(NOT DAVIT_PLUGIN_INSTALL_DIR)
    include(GNUInstallDirs)
    set(DAVIT_PLUGIN_INSTALL_DIR ${CMAKE_INSTALL_LIBDIR}/davit/plugins)
  endif()
endmacro()

# Registers the suites of a plugin's roles as the test "NAME.conformance", and installs their configuration.
function(davit_add_conformance NAME PLUGIN)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "CONFIG" "LAUNCHER")
  set(config)
  if(arg_CONFIG)
    cmake_path(ABSOLUTE_PATH arg_CONFIG BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    set(config --config ${arg_CONFIG})
    cmake_path(IS_PREFIX CMAKE_BINARY_DIR ${arg_CONFIG} made_here)
    if(NOT made_here)
      davit_install_conformance(${NAME} ${arg_CONFIG})
    endif()
  endif()
  if(BUILD_TESTING AND TARGET Davit::conformance)
    add_test(NAME ${NAME}.conformance
      COMMAND ${arg_LAUNCHER} $<TARGET_FILE:Davit::conformance> ${config} ${PLUGIN})
    if(arg_LAUNCHER)
      set_tests_properties(${NAME}.conformance PROPERTIES SKIP_RETURN_CODE 77)
    endif()
  endif()
endfunction()

# davit_add_plugin(NAME SOURCES file... [ROLES role/1...] [NEEDS word...] [ABI_MIN 1.0] [LINK library...]
#                  [VERSION 1.2.3] [CONFORMANCE_CONFIG file] [SANDBOX file] [TEST_ONLY])
#
# Makes NAME.so: hidden visibility, one exported symbol, no undefined symbols, the ELF note; installs it where
# the host looks; and registers the suites of its roles as the test "NAME.conformance" when davit-conformance
# is there.
# ROLES: the tables that the plugin's `query` answers, as in "storage/1"; abi.h names them.
# NEEDS: what it cannot do without and not every host has, as in "rpc/1"; such a host refuses it with a readable line.
# ABI_MIN: the lowest minor of the ABI that it works with. Without it the lowest that there is: a plugin that uses what
# a later minor added, and does not ask first (DAVIT_HAS, a service's id), says so here.
# What a test needs in the configuration stands in CONFORMANCE_CONFIG (TOML-like "key = value" lines).
# The file is installed, with the files of its `conformance.` keys, as share/davit/conformance/NAME/conformance.conf, unless
# it is made by the build: such a one names files of this build.
# CONFORMANCE_LAUNCHER command...: what that test is run by, when it needs a server around it; 77 means skipped.
# SANDBOX: lines of a unit's [Service] that an instance needs beyond the shipped units, such as ExecPaths=; it lies beside
# NAME.so as NAME.sandbox, and `davit check --sandbox` prints it.
# TEST_ONLY: neither laid out nor installed, and no test of its own.
function(davit_add_plugin NAME)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TEST_ONLY" "VERSION;ABI_MIN;CONFORMANCE_CONFIG;SANDBOX"
    "ROLES;NEEDS;SOURCES;LINK;CONFORMANCE_LAUNCHER")
  if(NOT arg_VERSION)
    set(arg_VERSION ${PROJECT_VERSION})
  endif()
  if(NOT arg_SOURCES)
    message(FATAL_ERROR "davit_add_plugin(${NAME}): SOURCES are needed")
  endif()
  foreach(word IN LISTS arg_ROLES arg_NEEDS)
    if(NOT word MATCHES "^[a-z][a-z0-9_.]*/[0-9]+$")
      message(FATAL_ERROR "davit_add_plugin(${NAME}): \"${word}\" is no NAME/MAJOR, as in \"storage/1\"")
    endif()
  endforeach()
  if(NOT arg_ABI_MIN)
    set(arg_ABI_MIN ${DAVIT_ABI_LOWEST})
  endif()
  if(NOT arg_ABI_MIN MATCHES "^[0-9]+[.][0-9]+$")
    message(FATAL_ERROR "davit_add_plugin(${NAME}): ABI_MIN \"${arg_ABI_MIN}\" is no MAJOR.MINOR, as in \"1.0\"")
  endif()
  davit_write_note(${CMAKE_CURRENT_BINARY_DIR}/${NAME}_note.c NAME ${NAME} ABI ${arg_ABI_MIN} VERSION ${arg_VERSION}
    ROLES ${arg_ROLES} NEEDS ${arg_NEEDS})

  add_library(${NAME} MODULE ${arg_SOURCES} ${CMAKE_CURRENT_BINARY_DIR}/${NAME}_note.c)
  target_link_libraries(${NAME} PRIVATE Davit::sdk ${arg_LINK})
  target_compile_definitions(${NAME} PRIVATE DAVIT_PLUGIN_VERSION="${arg_VERSION}")
  target_compile_features(${NAME} PRIVATE cxx_std_20)
  target_link_options(${NAME} PRIVATE
    -Wl,--version-script=${DAVIT_SDK_CMAKE_DIR}/plugin.map -Wl,-z,now -Wl,-z,relro -Wl,-z,noexecstack
    -Wl,-z,nodelete -Wl,--exclude-libs,ALL)
  if(NOT DAVIT_SANITIZED) # a sanitizer's runtime lives in the executable
    target_link_options(${NAME} PRIVATE -Wl,-z,defs)
  endif()
  set_property(TARGET ${NAME} APPEND PROPERTY LINK_DEPENDS ${DAVIT_SDK_CMAKE_DIR}/plugin.map)
  set_target_properties(${NAME} PROPERTIES
    PREFIX "" CXX_VISIBILITY_PRESET hidden C_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    POSITION_INDEPENDENT_CODE ON)
  if(arg_TEST_ONLY)
    return()
  endif()
  if(DAVIT_STAGE) # this tree: lay it out as it will be installed
    set_property(GLOBAL APPEND PROPERTY DAVIT_STAGED_PLUGINS ${NAME})
    set_target_properties(${NAME} PROPERTIES
      LIBRARY_OUTPUT_DIRECTORY ${DAVIT_STAGE}/${CMAKE_INSTALL_LIBDIR}/davit/plugins
      INSTALL_RPATH "$ORIGIN/..")
  endif()
  davit_set_install_dir()
  install(TARGETS ${NAME} LIBRARY DESTINATION ${DAVIT_PLUGIN_INSTALL_DIR})
  if(arg_SANDBOX)
    install(FILES ${arg_SANDBOX} DESTINATION ${DAVIT_PLUGIN_INSTALL_DIR} RENAME ${NAME}.sandbox)
    if(DAVIT_STAGE)
      configure_file(${arg_SANDBOX} ${DAVIT_STAGE}/${CMAKE_INSTALL_LIBDIR}/davit/plugins/${NAME}.sandbox COPYONLY)
    endif()
  endif()

  davit_add_conformance(${NAME} $<TARGET_FILE:${NAME}> CONFIG ${arg_CONFORMANCE_CONFIG}
    LAUNCHER ${arg_CONFORMANCE_LAUNCHER})
endfunction()

# davit_add_cargo_plugin(NAME CONFORMANCE_CONFIG file [DEPENDS file...] [ENVIRONMENT VAR=value...] [TESTS])
#
# The same for a plugin in Rust: the package of this folder, which makes libNAME.so and writes the ELF note itself. cargo
# asks no registry. DEPENDS and ENVIRONMENT are of its build. TESTS: "NAME.unit" runs the package's own tests.
function(davit_add_cargo_plugin NAME)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TESTS" "CONFORMANCE_CONFIG" "DEPENDS;ENVIRONMENT")
  find_program(DAVIT_CARGO cargo REQUIRED)
  set(plugin ${CMAKE_CURRENT_BINARY_DIR}/${NAME}.so)
  set(target ${CMAKE_CURRENT_BINARY_DIR}/target)
  set(manifest ${CMAKE_CURRENT_SOURCE_DIR}/Cargo.toml)
  set(cargo ${CMAKE_COMMAND} -E env CARGO_TARGET_DIR=${target} CARGO_HOME=${CMAKE_CURRENT_BINARY_DIR}/cargo
    ${arg_ENVIRONMENT} ${DAVIT_CARGO})
  set(options --quiet --release --offline --manifest-path ${manifest})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/*.rs)
  add_custom_command(OUTPUT ${plugin}
    DEPENDS ${manifest} ${sources} ${arg_DEPENDS}
    COMMAND ${cargo} build ${options}
    COMMAND ${CMAKE_COMMAND} -E copy ${target}/release/lib${NAME}.so ${plugin})
  add_custom_target(${NAME} ALL DEPENDS ${plugin})
  davit_set_install_dir()
  install(FILES ${plugin} DESTINATION ${DAVIT_PLUGIN_INSTALL_DIR})
  davit_add_conformance(${NAME} ${plugin} CONFIG ${arg_CONFORMANCE_CONFIG})
  if(BUILD_TESTING AND arg_TESTS)
    add_test(NAME ${NAME}.unit COMMAND ${cargo} test ${options})
  endif()
endfunction()
