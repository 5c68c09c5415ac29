// The chips under /sys/class/hwmon: finding them, and reading one. For probers: both open files, and a chip
// may be slow or hang.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/roots.h"
#include "host/sensors.h"
#include "linux/gpu/sleep.h"
#include "linux/kernel/file.h"

namespace hostwire {

struct SensorInput {
  SensorKind kind = SensorKind::kTemperature;
  std::string name;   // within the chip; valid UTF-8
  std::string path;   // of the value
  std::string spare;  // path of the same value, used if every reading of `path` has failed; usually empty
  std::string label;  // as the chip gives it; empty if it gives none; valid UTF-8
  std::string fault;  // path of the file that says whether the value can be trusted; usually empty
  friend bool operator==(const SensorInput&, const SensorInput&) = default;
};

struct SensorChip {
  std::string driver;  // the chip's own name for itself; valid UTF-8
  std::string name;    // unique; valid UTF-8
  // The last two parts of its device's path, "platform/coretemp.0", with the driver if several chips belong
  // to one device: "platform/asus-nb-wmi/asus". Unique; empty without a device; valid UTF-8.
  std::string device;
  std::string runtimeStatus;  // path of the device's power state; empty if it never sleeps
  std::string gpuFolder;      // of the device, if it is a graphics processor; otherwise empty
  bool isIntegratedGpu = false;
  bool isZone = false;     // of a thermal zone
  bool isSlow = false;     // each reading is a command to a drive
  bool keepsOpen = false;  // its files stay open between readings
  std::vector<SensorInput> inputs;
  friend bool operator==(const SensorChip&, const SensorChip&) = default;
};

// Returns them in the order of their numbers; chips without a sensor are left out.
std::vector<SensorChip> findChips(const Roots& roots);

// Returns the names under /sys/class/hwmon, which change when chips are added or removed.
std::vector<std::string> listChips(const Roots& roots);

struct SensorReading {
  std::optional<double> value;
  bool isOfSpare = false;
  std::string failure;
};

// Belongs to one prober's question: used by one thread at a time.
class ChipProbe {
 public:
  explicit ChipProbe(SensorChip chip);
  // Returns one reading per input, in the same order.
  std::vector<SensorReading> read();

 private:
  struct Files {
    KeptFile value;
    std::optional<KeptFile> spare;
    std::optional<KeptFile> fault;
  };
  bool isAsleep();
  bool isResting();
  SensorReading readOne(std::size_t at, Files& files);
  SensorReading readFile(SensorKind kind, KeptFile& file);
  std::vector<Files> openFiles() const;

  const SensorChip chip_;
  std::vector<Files> kept_;
  std::vector<bool> hasAnswered_;  // per input: its first file; the spare one counts no longer
  std::optional<KeptFile> runtimeStatus_;
  std::shared_ptr<SharedGpuSleep> gpuSleep_;
  std::vector<SensorReading> last_;  // of a slow chip, or of a graphics processor
  std::optional<std::chrono::steady_clock::time_point> readAt_;
  std::string buffer_;
};

}  // namespace hostwire
