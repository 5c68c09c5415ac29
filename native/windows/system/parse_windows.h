// The name of this Windows from the registry, which says 10 for Windows 11. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "host/system.h"

namespace hostwire {

struct WindowsVersion {
  std::uint32_t major = 10;
  std::uint32_t minor = 0;
  std::uint32_t build = 0;
  std::uint32_t revision = 0;  // UBR; 0 unknown
  bool isServer = false;
  std::string productName;     // "Windows 10 Pro"; may be empty
  std::string displayVersion;  // "23H2", otherwise ReleaseId ("1909"); may be empty
};

// Without `arch`. version: "23H2", otherwise "10.0"; build: "22631.4317", otherwise "22631".
OsInfo nameWindows(const WindowsVersion& version);

}  // namespace hostwire
