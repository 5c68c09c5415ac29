# What the addon needs of Windows and of node.exe beyond its sources; for mingw-w64 and MSVC alike.

# Without UNICODE some constants are narrow strings (SE_SHUTDOWN_NAME); 0x0A00 is Windows 10.
foreach(target hostwire_shared hostwire_platform hostwire_napi)
  target_compile_definitions(${target} PRIVATE UNICODE _UNICODE NOMINMAX WIN32_LEAN_AND_MEAN _WIN32_WINNT=0x0A00)
endforeach()
target_link_libraries(hostwire PRIVATE ntdll advapi32 user32 powrprof psapi iphlpapi ws2_32 wtsapi32 shell32 ole32 setupapi
  runtimeobject)

# cmake-js names the library that stands for node.exe. Without it, it is made here of the lists of its functions.
if(MSVC AND CMAKE_JS_NODELIB_DEF AND CMAKE_JS_NODELIB_TARGET)
  execute_process(COMMAND ${CMAKE_AR} /def:${CMAKE_JS_NODELIB_DEF} /out:${CMAKE_JS_NODELIB_TARGET}
    ${CMAKE_STATIC_LINKER_FLAGS} COMMAND_ERROR_IS_FATAL ANY)
elseif(NOT CMAKE_JS_LIB)
  set(HOSTWIRE_NODE_HEADERS "${CMAKE_CURRENT_SOURCE_DIR}/node_modules/node-api-headers")
  target_include_directories(hostwire_napi SYSTEM PRIVATE "${HOSTWIRE_NODE_HEADERS}/include")
  set(HOSTWIRE_NODE_FUNCTIONS)
  foreach(list js_native_api node_api)
    file(STRINGS "${HOSTWIRE_NODE_HEADERS}/def/${list}.def" lines REGEX "^(napi|node_api)_")
    list(APPEND HOSTWIRE_NODE_FUNCTIONS ${lines})
  endforeach()
  list(JOIN HOSTWIRE_NODE_FUNCTIONS "\n" HOSTWIRE_NODE_EXPORTS)
  set(HOSTWIRE_NODE_DEF "${CMAKE_CURRENT_BINARY_DIR}/node.def")
  file(GENERATE OUTPUT "${HOSTWIRE_NODE_DEF}" CONTENT "NAME node.exe\nEXPORTS\n${HOSTWIRE_NODE_EXPORTS}\n")
  if(MSVC)
    set(HOSTWIRE_NODE_LIB "${CMAKE_CURRENT_BINARY_DIR}/node.lib")
    set(HOSTWIRE_MAKE_NODE_LIB "${CMAKE_AR}" "/def:${HOSTWIRE_NODE_DEF}" "/out:${HOSTWIRE_NODE_LIB}" /machine:x64)
  else()
    set(HOSTWIRE_NODE_LIB "${CMAKE_CURRENT_BINARY_DIR}/libnode.a")
    set(HOSTWIRE_MAKE_NODE_LIB "${CMAKE_DLLTOOL}" -d "${HOSTWIRE_NODE_DEF}" -l "${HOSTWIRE_NODE_LIB}")
  endif()
  add_custom_command(OUTPUT "${HOSTWIRE_NODE_LIB}" COMMAND ${HOSTWIRE_MAKE_NODE_LIB} DEPENDS "${HOSTWIRE_NODE_DEF}"
    VERBATIM)
  add_custom_target(hostwire_node_lib DEPENDS "${HOSTWIRE_NODE_LIB}")
  add_dependencies(hostwire hostwire_node_lib)
  target_link_libraries(hostwire PRIVATE "${HOSTWIRE_NODE_LIB}")
endif()

if(MSVC)
  target_link_options(hostwire PRIVATE /DYNAMICBASE /NXCOMPAT)
else()
  # One file: without -static it wants libstdc++-6.dll and two more beside it. The time of the build would differ from
  # one build to the next.
  target_link_options(hostwire PRIVATE -static -s -Wl,--no-insert-timestamp)
endif()
