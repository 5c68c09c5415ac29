# The addon, built by node-gyp where CMake is missing. CMakeLists.txt builds the same list of sources.
{
  "targets": [
    {
      "target_name": "hostwire",
      "sources": [
        "<!@(node scripts/sources.mjs)"
      ],
      "include_dirs": ["native", "node_modules/node-addon-api"],
      "defines": [
        "NAPI_VERSION=9",
        "NAPI_CPP_EXCEPTIONS",
        "NODE_ADDON_API_DISABLE_DEPRECATED",
        "NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS",
        "NODE_ADDON_API_CPP_EXCEPTIONS_ALL"
      ],
      "cflags!": ["-fno-exceptions"],
      "cflags_cc!": ["-fno-exceptions", "-fno-rtti", "-std=gnu++17", "-std=gnu++20"],
      "cflags_cc": [
        "-std=c++20", "-fexceptions", "-frtti", "-fvisibility=hidden", "-fvisibility-inlines-hidden",
        "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror", "-Wno-subobject-linkage",
        "-isystem", "<(module_root_dir)/node_modules/node-addon-api"
      ],
      "xcode_settings": {
        "GCC_ENABLE_CPP_EXCEPTIONS": "YES",
        "CLANG_CXX_LANGUAGE_STANDARD": "c++20"
      },
      "conditions": [
        ["OS=='win'", {
          "defines": ["UNICODE", "_UNICODE", "NOMINMAX", "WIN32_LEAN_AND_MEAN", "_WIN32_WINNT=0x0A00"],
          "defines!": ["_HAS_EXCEPTIONS=0"],
          "libraries": [
            "ntdll.lib", "advapi32.lib", "user32.lib", "powrprof.lib", "psapi.lib", "iphlpapi.lib", "ws2_32.lib",
            "wtsapi32.lib", "shell32.lib", "ole32.lib", "setupapi.lib", "runtimeobject.lib"
          ],
          "msvs_settings": {
            "VCCLCompilerTool": {
              "ExceptionHandling": 1,
              "RuntimeTypeInfo": "true",
              "AdditionalOptions": ["/std:c++20", "/W4", "/WX", "/permissive-", "/Zc:__cplusplus", "/utf-8"]
            }
          }
        }]
      ]
    }
  ]
}
