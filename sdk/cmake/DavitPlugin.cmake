# davit_add_plugin() and davit_embed_descriptors(): how a plugin is built, inside this tree and outside of it.

set(DAVIT_SDK_CMAKE_DIR ${CMAKE_CURRENT_LIST_DIR} CACHE INTERNAL "")
set(DAVIT_ABI_VERSION 1.0 CACHE INTERNAL "")

# davit_embed_descriptors(NAME PROTO file [PROTO_PATH dir...])
#
# Makes an object library NAME with the FileDescriptorSet of a .proto file (imports included), to link into a
# plugin; "NAME.h" offers davit_bytes NAME(void). Needs protoc, not protobuf.
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
    COMMAND ${DAVIT_PROTOC} ${paths} --include_imports --descriptor_set_out=${file} --dependency_out=${file}.d ${arg_PROTO}
    DEPENDS ${inputs}
    DEPFILE ${file}.d
    COMMENT "descriptor set of ${arg_PROTO}")
  set_source_files_properties(${dir}/${NAME}.c PROPERTIES OBJECT_DEPENDS ${file})
  add_custom_target(${NAME}_file DEPENDS ${file})
  add_library(${NAME} OBJECT ${dir}/${NAME}.c)
  add_dependencies(${NAME} ${NAME}_file)
  set_target_properties(${NAME} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${NAME} PUBLIC Davit::sdk)
  target_include_directories(${NAME} PUBLIC ${dir})
endfunction()

# davit_add_plugin(NAME ROLES role... SOURCES file... [LINK library...] [VERSION 1.2.3] [CONFORMANCE_CONFIG file]
#                  [TEST_ONLY])
#
# Makes NAME.so: hidden visibility, one exported symbol, no undefined symbols, the ELF note; installs it where
# the host looks; and registers the suites of its roles as the test "NAME.conformance" when davit-conformance
# is there. What a test needs in the configuration stands in CONFORMANCE_CONFIG (TOML-like "key = value" lines).
# CONFORMANCE_LAUNCHER command...: what that test is run by, when it needs a server around it; 77 means skipped.
# TEST_ONLY: neither laid out nor installed, and no test of its own.
function(davit_add_plugin NAME)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TEST_ONLY" "VERSION;CONFORMANCE_CONFIG" "ROLES;SOURCES;LINK;CONFORMANCE_LAUNCHER")
  if(NOT arg_VERSION)
    set(arg_VERSION ${PROJECT_VERSION})
  endif()
  if(NOT arg_ROLES OR NOT arg_SOURCES)
    message(FATAL_ERROR "davit_add_plugin(${NAME}): ROLES and SOURCES are needed")
  endif()
  list(JOIN arg_ROLES "," roles)
  set(name ${NAME})
  set(at "@")
  set(note_text "abi=${DAVIT_ABI_VERSION}\\nname=${NAME}\\nversion=${arg_VERSION}\\nroles=${roles}\\n")
  # The text's length with each "\n" as one character, and its terminating zero.
  string(REPLACE "\\n" "n" counted "${note_text}")
  string(LENGTH "${counted}" length)
  math(EXPR note_size "${length} + 1")
  configure_file(${DAVIT_SDK_CMAKE_DIR}/note.c.in ${CMAKE_CURRENT_BINARY_DIR}/${NAME}_note.c @ONLY)

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
    set_target_properties(${NAME} PROPERTIES
      LIBRARY_OUTPUT_DIRECTORY ${DAVIT_STAGE}/${CMAKE_INSTALL_LIBDIR}/davit/plugins
      INSTALL_RPATH "$ORIGIN/..")
  endif()
  if(NOT DAVIT_PLUGIN_INSTALL_DIR)
    include(GNUInstallDirs)
    set(DAVIT_PLUGIN_INSTALL_DIR ${CMAKE_INSTALL_LIBDIR}/davit/plugins)
  endif()
  install(TARGETS ${NAME} LIBRARY DESTINATION ${DAVIT_PLUGIN_INSTALL_DIR})

  if(BUILD_TESTING AND TARGET Davit::conformance)
    set(config)
    if(arg_CONFORMANCE_CONFIG)
      cmake_path(ABSOLUTE_PATH arg_CONFORMANCE_CONFIG BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
      set(config --config ${arg_CONFORMANCE_CONFIG})
    endif()
    add_test(NAME ${NAME}.conformance
      COMMAND ${arg_CONFORMANCE_LAUNCHER} $<TARGET_FILE:Davit::conformance> ${config} $<TARGET_FILE:${NAME}>)
    if(arg_CONFORMANCE_LAUNCHER)
      set_tests_properties(${NAME}.conformance PROPERTIES SKIP_RETURN_CODE 77)
    endif()
  endif()
endfunction()
