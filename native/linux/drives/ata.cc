// ATA drives: commands by SG_IO and ATA PASS-THROUGH (16) (SAT-4, 12.2.3).
#include <scsi/sg.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "firmware/parse_ata_health.h"
#include "host/error.h"
#include "linux/drives/ask.h"
#include "linux/drives/open.h"

namespace hostwire {
namespace {

// drivers/scsi/scsi_ioctl.c, scsi_cmd_allowed(): ATA commands are not among those allowed without it.
constexpr std::string_view kAtaCapability = "CAP_SYS_RAWIO";
constexpr std::uint8_t kAtaPassThrough16 = 0x85;
constexpr unsigned kAtaTimeoutMs = 5000;
constexpr std::chrono::hours kIdleInterval{1};

struct Command {
  std::uint8_t code = 0;
  std::uint8_t feature = 0;
  std::uint8_t count = 0;
  std::uint8_t lbaLow = 0;
  bool isSmart = false;
};
constexpr Command kCheckPowerMode{0xE5};
constexpr Command kIdentify{0xEC, 0, 1};
constexpr Command kSmartStatus{0xB0, 0xDA, 0, 0, true};
constexpr Command kSmartData{0xB0, 0xD0, 1, 0, true};
constexpr Command smartLog(std::uint8_t log, std::uint8_t sectors) {
  return {0xB0, 0xD5, sectors, log, true};
}

struct Reply {
  bool isGood = false;
  std::optional<AtaRegisters> registers;
};

class AtaDrive {
 public:
  AtaDrive(int fd, const std::string& name) : fd_(fd), name_(name) {}

  // Reads into `data`, or requests the registers if `data` is empty. Throws HostError.
  Reply send(const Command& command, std::span<std::uint8_t> data = {}) const {
    const bool hasData = !data.empty();
    std::array<std::uint8_t, 16> block{};
    block[0] = kAtaPassThrough16;
    block[1] = hasData ? 4U << 1U : 3U << 1U;  // protocol: PIO data-in, or non-data
    block[2] = hasData ? 0x0E : 0x20;          // from the drive, `count` blocks; or return the registers
    block[4] = command.feature;
    block[6] = command.count;
    block[8] = command.lbaLow;
    block[10] = command.isSmart ? 0x4F : 0;
    block[12] = command.isSmart ? 0xC2 : 0;
    block[14] = command.code;
    std::array<std::uint8_t, 64> sense{};
    sg_io_hdr_t request{};
    request.interface_id = 'S';
    request.dxfer_direction = hasData ? SG_DXFER_FROM_DEV : SG_DXFER_NONE;
    request.cmd_len = block.size();
    request.cmdp = block.data();
    request.mx_sb_len = sense.size();
    request.sbp = sense.data();
    request.dxfer_len = static_cast<unsigned>(data.size());
    request.dxferp = data.data();
    request.timeout = kAtaTimeoutMs;
    const std::string operation = "send an ATA command to /dev/" + name_;
    if (ioctl(fd_, SG_IO, &request) < 0) throw HostError(errno, operation);
    if (request.host_status != 0) throw HostError(EIO, operation);
    Reply reply;
    reply.registers = parseAtaSense(std::span(sense).first(request.sb_len_wr));
    reply.isGood = reply.registers ? !reply.registers->hasFailed() : request.status == 0;
    if (hasData && request.resid != 0) reply.isGood = false;
    return reply;
  }

  std::optional<bool> readVerdict() const {
    const Reply reply = send(kSmartStatus);
    return reply.registers ? parseSmartStatus(*reply.registers) : std::nullopt;
  }

  DriveHealth readStatistics() const {
    std::array<std::uint8_t, kAtaSectorBytes * kAtaStatisticsPages> pages{};
    const auto directory = std::span(pages).first(kAtaSectorBytes);
    if (!send(smartLog(0, 1), directory).isGood) return {};
    const std::size_t count =
        std::min<std::size_t>(parseAtaLogPages(directory, kAtaStatisticsLog), kAtaStatisticsPages);
    const auto read = std::span(pages).first(count * kAtaSectorBytes);
    if (read.empty() || !send(smartLog(kAtaStatisticsLog, static_cast<std::uint8_t>(count)), read).isGood)
      return {};
    return parseDeviceStatistics(read);
  }

 private:
  const int fd_;
  const std::string& name_;
};

DriveAnswer readSmart(const AtaDrive& ata, const std::string& model) {
  // Always the first command, because it does not wake a drive.
  const Reply mode = ata.send(kCheckPowerMode);
  if (mode.registers && isAtaStandby(*mode.registers)) return asleep();
  std::array<std::uint8_t, kAtaSectorBytes> sector{};
  const auto identity =
      ata.send(kIdentify, sector).isGood ? parseAtaIdentity(sector) : std::optional<AtaIdentity>{};
  if (!identity) return failed("the drive does not identify itself");
  if (!identity->hasSmart) return failed("the drive has no SMART");
  if (!identity->isSmartEnabled) return failed("SMART is disabled in the drive");
  DriveHealth health;
  if (identity->hasLogs) health = ata.readStatistics();
  health.isPassing = ata.readVerdict();
  if (ata.send(kSmartData, sector).isGood)
    if (const auto attributes = parseSmartAttributes(sector, model)) health = fillFrom(health, *attributes);
  if (health == DriveHealth{}) return failed("the drive reports nothing that is defined by the standard");
  return {health, {}};
}

DriveAnswer askAta(const FoundDrive& drive) {
  if (isSuspended(drive)) return asleep();
  const OpenedDrive opened = openDrive(drive, kAtaCapability);
  if (!opened.fd.isOpen()) return failed(opened.failure);
  try {
    return readSmart(AtaDrive(opened.fd.get(), drive.name), drive.model);
  } catch (const HostError& error) {
    const int code = error.code().value();
    if (code == EACCES || code == EPERM) return failed("needs " + std::string(kAtaCapability));
    if (code == ENOTTY || code == EINVAL) return failed("its driver passes no ATA commands on");
    throw;
  }
}

// A rotating drive without reads or writes is asked less often: some models postpone spinning down when they
// are asked (Documentation/hwmon/drivetemp.rst).
class AtaQuestion {
 public:
  explicit AtaQuestion(FoundDrive drive) : drive_(std::move(drive)) {}

  DriveAnswer ask() {
    const auto now = std::chrono::steady_clock::now();
    if (last_.health && now - askedAt_ < kIdleInterval && isRotating() && readTraffic() == lastTraffic_)
      return last_;
    DriveAnswer answer = askAta(drive_);
    if (answer.isAsleep) return answer;
    askedAt_ = now;
    last_ = answer;
    lastTraffic_ = readTraffic();  // read afterwards, because some kernels count the commands above
    return answer;
  }

 private:
  bool isRotating() const { return readSmallFile(drive_.folder + "/queue/rotational") == "1"; }
  std::string readTraffic() const { return readSmallFile(drive_.folder + "/stat"); }

  const FoundDrive drive_;
  DriveAnswer last_;
  std::string lastTraffic_;
  std::chrono::steady_clock::time_point askedAt_;
};

}  // namespace

std::function<DriveAnswer()> makeAtaQuestion(const FoundDrive& drive) {
  return [question = std::make_shared<AtaQuestion>(drive)] { return question->ask(); };
}

}  // namespace hostwire
