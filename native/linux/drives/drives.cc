// The drives under /sys/block (Documentation/ABI/stable/sysfs-block). Nothing here touches a drive.
#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "firmware/parse_ata_health.h"
#include "host/drive_probe.h"
#include "linux/drives/ask.h"
#include "linux/kernel/directory.h"
#include "linux/kernel/file.h"
#include "linux/kernel/text.h"
#include "linux/sensors/parse_sensors.h"

namespace hostwire {
namespace {

// Block devices that are not drives, or whose medium is not part of them.
constexpr std::array<std::string_view, 8> kOthers{"loop", "ram", "dm-", "md", "zram", "sr", "fd", "nbd"};

std::string readName(const std::string& path) { return toValidUtf8(cleanName(readSmallFile(path))); }

// SCSI limits a model to 16 characters; the full name is in the kernel's copy of IDENTIFY DEVICE.
std::string readAtaModel(const std::string& device) {
  const std::string page = tryReadSmallFile(device + "/vpd_pg89").value_or(std::string());
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(page.data());
  std::string model = toValidUtf8(cleanName(parseAtaModel(std::span(bytes, page.size()))));
  return model.empty() ? readName(device + "/model") : model;
}

void describe(FoundDrive& drive) {
  const std::string device = drive.folder + "/device";
  drive.model = readName(device + "/model");
  if (drive.name.starts_with("nvme")) {
    drive.kind = DriveKind::kNvme;
  } else if (drive.name.starts_with("sd")) {
    // libata and host adapters for SAS report this vendor for every ATA drive. USB bridges report another
    // name: not every bridge survives an ATA command.
    const std::string vendor = readName(device + "/vendor");
    drive.kind = vendor == "ATA" ? DriveKind::kAta : DriveKind::kScsi;
    if (drive.kind == DriveKind::kAta) {
      drive.model = readAtaModel(device);
    } else {
      drive.whyNot = kOtherDrive;
      if (!vendor.empty()) drive.model = drive.model.empty() ? vendor : vendor + " " + drive.model;
    }
  } else if (drive.name.starts_with("vd") || drive.name.starts_with("xvd")) {
    drive.whyNot = kVirtualDrive;
  } else {
    drive.whyNot = kOtherDrive;
  }
}

// mmcblk0boot0 and the like are parts of mmcblk0.
bool isDrive(const std::string& name, const std::string& folder) {
  const auto begins = [&](std::string_view prefix) { return name.starts_with(prefix); };
  if (std::any_of(kOthers.begin(), kOthers.end(), begins)) return false;
  if (name.starts_with("mmcblk") && name.find("boot") != std::string::npos) return false;
  if (!isPresent(folder + "/device")) return false;
  // Hidden: one of several paths to an NVMe drive that is shown as a whole. Size 0: an empty card reader.
  return readSmallFile(folder + "/hidden") != "1" && readSmallFile(folder + "/size") != "0";
}

// sysfs has '!' where a device's name has a slash (cciss/c0d0).
std::string devicePath(const Roots& roots, std::string name) {
  std::replace(name.begin(), name.end(), '!', '/');
  return roots.files + "/dev/" + name;
}

bool comesBefore(const FoundDrive& a, const FoundDrive& b) {
  return a.name.size() != b.name.size() ? a.name.size() < b.name.size() : a.name < b.name;
}

}  // namespace

std::vector<FoundDrive> findDrives(const Roots& roots) {
  std::vector<FoundDrive> drives;
  for (const std::string& name : listFolder(roots.sys + "/block")) {
    FoundDrive drive;
    drive.name = toValidUtf8(name);
    drive.folder = roots.sys + "/block/" + name;
    if (!isDrive(name, drive.folder)) continue;
    drive.path = devicePath(roots, name);
    describe(drive);
    drives.push_back(std::move(drive));
  }
  std::sort(drives.begin(), drives.end(), comesBefore);
  return drives;
}

std::function<DriveAnswer()> makeDriveQuestion(const FoundDrive& drive) {
  return drive.kind == DriveKind::kNvme ? makeNvmeQuestion(drive) : makeAtaQuestion(drive);
}

}  // namespace hostwire
