// FindFirstVolumeW and related functions; GetDiskFreeSpaceExW, GetVolumeInformationW.
#include "windows/disks/volumes.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "windows/disks/io.h"
#include "windows/win32/unicode.h"
#include "windows/win32/win32.h"

namespace hostwire {
namespace {

using Name = std::array<wchar_t, MAX_PATH + 1>;

struct VolumeSearchCloser {
  void operator()(HANDLE search) const { FindVolumeClose(search); }
};
using VolumeSearch = std::unique_ptr<std::remove_pointer_t<HANDLE>, VolumeSearchCloser>;

// Splits consecutive zero-terminated strings, up to an empty one.
std::vector<std::wstring> splitStrings(std::wstring_view text) {
  std::vector<std::wstring> strings;
  while (!text.empty() && text.front() != L'\0') {
    const std::size_t length = std::min(text.find(L'\0'), text.size());
    strings.emplace_back(text.substr(0, length));
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return strings;
}

std::vector<std::wstring> mountPointsOf(const wchar_t* volume) {
  std::vector<wchar_t> buffer(MAX_PATH + 1);
  DWORD length = 0;
  while (GetVolumePathNamesForVolumeNameW(volume, buffer.data(), static_cast<DWORD>(buffer.size()),
                                          &length) == 0) {
    if (GetLastError() != ERROR_MORE_DATA || length <= buffer.size()) return {};
    buffer.resize(length);
  }
  return splitStrings({buffer.data(), std::min<std::size_t>(length, buffer.size())});
}

bool isShorter(const std::wstring& a, const std::wstring& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

void addLocal(std::vector<Volume>& volumes, std::wstring name) {
  auto points = mountPointsOf(name.c_str());
  if (points.empty()) return;
  std::wstring root = *std::min_element(points.begin(), points.end(), isShorter);
  // A volume's own name yields 0 where that of its drive yields the type.
  const UINT type = GetDriveTypeW(root.c_str());
  if (name.ends_with(L'\\')) name.pop_back();
  volumes.push_back({std::move(root), std::move(name), type == DRIVE_REMOVABLE || type == DRIVE_CDROM});
}

// Returns whether the drive has no medium, or a filesystem that Windows does not know.
bool isUnmounted(DWORD code) {
  return code == ERROR_NOT_READY || code == ERROR_NO_MEDIA_IN_DRIVE || code == ERROR_UNRECOGNIZED_VOLUME ||
         code == ERROR_UNRECOGNIZED_MEDIA || code == ERROR_INVALID_DRIVE;
}

// Returns "\\server\share" of a network drive: QueryDosDevice returns
// "\Device\LanmanRedirector\;Z:0…\server\share".
std::string remoteNameOf(const Volume& volume) {
  Name target{};
  const std::wstring drive = volume.root.substr(0, 2);
  if (QueryDosDeviceW(drive.c_str(), target.data(), static_cast<DWORD>(target.size())) == 0) return {};
  const std::wstring_view name(target.data());
  const std::size_t mark = name.find(L';');
  const std::size_t share = mark == std::wstring_view::npos ? mark : name.find(L'\\', mark);
  if (share == std::wstring_view::npos) return toUtf8(name);
  return std::string("\\").append(toUtf8(name.substr(share)));
}

}  // namespace

std::vector<Volume> listVolumes() {
  std::vector<Volume> volumes;
  Name name{};
  const HANDLE first = FindFirstVolumeW(name.data(), static_cast<DWORD>(name.size()));
  if (first != INVALID_HANDLE_VALUE) {
    const VolumeSearch search(first);
    do addLocal(volumes, name.data());
    while (FindNextVolumeW(search.get(), name.data(), static_cast<DWORD>(name.size())) != 0);
  }
  std::array<wchar_t, 4 * 26 + 1> drives{};
  const DWORD length = GetLogicalDriveStringsW(static_cast<DWORD>(drives.size()) - 1, drives.data());
  for (std::wstring& root : splitStrings({drives.data(), std::min<std::size_t>(length, drives.size())}))
    if (GetDriveTypeW(root.c_str()) == DRIVE_REMOTE) volumes.push_back({std::move(root), {}, false});
  std::sort(volumes.begin(), volumes.end(), [](const Volume& a, const Volume& b) { return a.root < b.root; });
  return volumes;
}

VolumeNames VolumeQuestion::readNames() const {
  VolumeNames names;
  names.device = volume_.device.empty() ? remoteNameOf(volume_) : toUtf8(volume_.device);
  Name label{};
  Name type{};
  DWORD flags = 0;
  if (GetVolumeInformationW(volume_.root.c_str(), label.data(), static_cast<DWORD>(label.size()), nullptr,
                            nullptr, &flags, type.data(), static_cast<DWORD>(type.size())) == 0)
    return names;
  names.type = toUtf8(type.data());
  if (label.front() != L'\0') names.label = toUtf8(label.data());
  names.isReadOnly = (flags & FILE_READ_ONLY_VOLUME) != 0;
  return names;
}

VolumeAnswer VolumeQuestion::ask(bool withDetail) {
  // Suppresses the dialog that asks for a disk.
  SetThreadErrorMode(SEM_FAILCRITICALERRORS, nullptr);
  VolumeAnswer answer;
  ULARGE_INTEGER available{};
  ULARGE_INTEGER total{};
  ULARGE_INTEGER free{};
  if (GetDiskFreeSpaceExW(volume_.root.c_str(), &available, &total, &free) == 0) {
    const DWORD code = GetLastError();
    if (!isUnmounted(code)) throw win32Error(code, "GetDiskFreeSpaceExW");
    names_.reset();
    answer.isMounted = false;
    return answer;
  }
  answer.usage.totalBytes = total.QuadPart;
  answer.usage.freeBytes = std::min(free.QuadPart, total.QuadPart);
  answer.usage.availableBytes = std::min(available.QuadPart, total.QuadPart);
  if (withDetail || !names_) names_ = readNames();
  answer.names = *names_;
  if (withDetail && !volume_.device.empty()) answer.io = readVolumeIo(volume_.device);
  return answer;
}

}  // namespace hostwire
