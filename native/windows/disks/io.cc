// IOCTL_DISK_PERFORMANCE for the volume, otherwise for the disks that it is on.
#include "windows/disks/io.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "windows/win32/win32.h"
// After windows.h.
#include <winioctl.h>

namespace hostwire {
namespace {

constexpr DWORD kMaxDisks = 32;
constexpr const wchar_t* kDiskPrefix = L"\\\\.\\PhysicalDrive";

// Opens it without any access, which requires no right, and neither mounts nor wakes anything.
Handle openDevice(const std::wstring& path) {
  return Handle(
      CreateFileW(path.c_str(), 0, FILE_SHARE_READ | FILE_SHARE_WRITE, nullptr, OPEN_EXISTING, 0, nullptr));
}

std::optional<DiskIo> readIo(const Handle& device) {
  DISK_PERFORMANCE counted{};
  DWORD bytes = 0;
  if (!isOpen(device) || DeviceIoControl(device.get(), IOCTL_DISK_PERFORMANCE, nullptr, 0, &counted,
                                         sizeof counted, &bytes, nullptr) == 0)
    return std::nullopt;
  const auto count = [](LARGE_INTEGER value) {
    return static_cast<std::uint64_t>(std::max<LONGLONG>(0, value.QuadPart));
  };
  DiskIo io;
  io.readBytes = count(counted.BytesRead);
  io.writeBytes = count(counted.BytesWritten);
  // The idle time does not advance while the device works. Only differences are meaningful; 100 ns.
  io.busyMs =
      (count(counted.QueryTime) - std::min(count(counted.QueryTime), count(counted.IdleTime))) / 10'000;
  return io;
}

std::vector<DWORD> disksOf(const Handle& volume) {
  std::vector<std::byte> buffer(sizeof(VOLUME_DISK_EXTENTS) + kMaxDisks * sizeof(DISK_EXTENT));
  DWORD bytes = 0;
  if (DeviceIoControl(volume.get(), IOCTL_VOLUME_GET_VOLUME_DISK_EXTENTS, nullptr, 0, buffer.data(),
                      static_cast<DWORD>(buffer.size()), &bytes, nullptr) == 0)
    return {};
  const auto* extents = reinterpret_cast<const VOLUME_DISK_EXTENTS*>(buffer.data());
  const DWORD count = std::min(extents->NumberOfDiskExtents, kMaxDisks);
  std::vector<DWORD> disks;
  for (DWORD at = 0; at < count; ++at) {
    const DWORD disk = extents->Extents[at].DiskNumber;
    if (std::find(disks.begin(), disks.end(), disk) == disks.end()) disks.push_back(disk);
  }
  return disks;
}

}  // namespace

std::optional<DiskIo> readVolumeIo(const std::wstring& device) {
  const Handle volume = openDevice(device);
  if (!isOpen(volume)) return std::nullopt;
  if (auto io = readIo(volume)) return io;
  const auto disks = disksOf(volume);
  if (disks.empty()) return std::nullopt;
  DiskIo sum;
  for (const DWORD disk : disks) {
    const auto io = readIo(openDevice(std::wstring(kDiskPrefix).append(std::to_wstring(disk))));
    if (!io) return std::nullopt;
    sum.readBytes += io->readBytes;
    sum.writeBytes += io->writeBytes;
    sum.busyMs += io->busyMs / disks.size();
  }
  return sum;
}

}  // namespace hostwire
