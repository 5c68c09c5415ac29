// The mounted volumes of Windows, and the properties of one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/disks.h"

namespace hostwire {

struct Volume {
  std::wstring root;    // where it is mounted, with the last backslash: "C:\", "D:\photos\"
  std::wstring device;  // "\\?\Volume{…}" without the last backslash; empty: a network drive
  bool isRemovable = false;

  bool operator==(const Volume&) const = default;
};

// Returns the mount points: the shortest one of each volume, and the network drives of this session. Asks
// only the mount manager, which no volume can delay.
std::vector<Volume> listVolumes();

struct VolumeNames {
  std::string device;
  std::string type;
  std::optional<std::string> label;
  std::optional<bool> isReadOnly;
};

struct VolumeAnswer {
  bool isMounted = true;  // false: no medium in the drive, or no filesystem on it
  DiskUsage usage;
  VolumeNames names;  // as of the last question with detail, or of the first one
  std::optional<DiskIo> io;
};

// Belongs to one prober's question: used by one thread at a time.
class VolumeQuestion {
 public:
  explicit VolumeQuestion(Volume volume) : volume_(std::move(volume)) {}
  // May hang as long as the device or the server does. Throws HostError.
  VolumeAnswer ask(bool withDetail);

 private:
  VolumeNames readNames() const;

  const Volume volume_;
  std::optional<VolumeNames> names_;
};

}  // namespace hostwire
