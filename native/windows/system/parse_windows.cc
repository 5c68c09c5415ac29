// The registry calls Windows 11 Windows 10: the build number distinguishes them.
#include "windows/system/parse_windows.h"

namespace hostwire {
namespace {

constexpr std::uint32_t kFirstBuildOf11 = 22'000;

std::string nameOf(const WindowsVersion& version) {
  constexpr std::string_view kTen = "Windows 10";
  constexpr std::string_view kVendor = "Microsoft ";
  std::string name = version.productName;
  if (name.starts_with(kVendor)) name.erase(0, kVendor.size());
  if (name.empty()) name = version.isServer ? "Windows Server" : kTen;
  if (!version.isServer && version.build >= kFirstBuildOf11 && name.starts_with(kTen))
    name.replace(0, kTen.size(), "Windows 11");
  return name;
}

}  // namespace

OsInfo nameWindows(const WindowsVersion& version) {
  OsInfo os;
  os.name = nameOf(version);
  os.version = version.displayVersion;
  if (os.version.empty())
    os.version = std::to_string(version.major).append(".").append(std::to_string(version.minor));
  os.build = std::to_string(version.build);
  if (version.revision != 0) os.build.append(".").append(std::to_string(version.revision));
  return os;
}

}  // namespace hostwire
