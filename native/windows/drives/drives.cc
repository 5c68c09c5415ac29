// The drives of Windows: \\.\PhysicalDriveN. None of the questions needs an administrator: the device is
// opened without any access.
#include <array>
#include <cstring>
#include <span>
#include <string>

#include "firmware/parse_ata_health.h"
#include "firmware/parse_nvme_health.h"
#include "host/drive_probe.h"
#include "windows/drives/parse_storage.h"
#include "windows/win32/error_text.h"
#include "windows/win32/win32.h"

namespace hostwire {
namespace {

// IOCTL_STORAGE_QUERY_PROPERTY, IOCTL_STORAGE_PREDICT_FAILURE
constexpr DWORD kQueryProperty = 0x2D1400;
constexpr DWORD kPredictFailure = 0x2D1100;
constexpr unsigned kMaxDrives = 32;

struct PropertyQuery {  // STORAGE_PROPERTY_QUERY: StorageDeviceProperty
  std::uint32_t property = 0;
  std::uint32_t queryType = 0;
  std::uint32_t parameters = 0;
};
struct Prediction {  // STORAGE_PREDICT_FAILURE
  std::uint32_t failure = 0;
  std::array<std::uint8_t, kAtaSectorBytes> data{};  // the drive's attributes
};
static_assert(sizeof(Prediction) == 4 + kAtaSectorBytes);

Handle openDrive(const std::string& path) {
  return Handle(
      CreateFileA(path.c_str(), 0, FILE_SHARE_READ | FILE_SHARE_WRITE, nullptr, OPEN_EXISTING, 0, nullptr));
}

template <class Input>
std::optional<std::size_t> ask(const Handle& device, DWORD code, Input* input,
                               std::span<std::uint8_t> output) {
  DWORD bytes = 0;
  const DWORD inputBytes = input == nullptr ? 0 : sizeof *input;
  if (DeviceIoControl(device.get(), code, input, inputBytes, output.data(), static_cast<DWORD>(output.size()),
                      &bytes, nullptr) == 0)
    return std::nullopt;
  return bytes;
}

DriveAnswer refused(DWORD code) {
  if (code == ERROR_ACCESS_DENIED) return failed("needs an administrator's rights");
  if (code == ERROR_INVALID_FUNCTION || code == ERROR_NOT_SUPPORTED || code == ERROR_INVALID_PARAMETER)
    return failed("its driver does not report health");
  return failed(windowsErrorText(code));
}

DriveAnswer askNvme(const Handle& device) {
  windows::LogPageQuery query;
  query.page = kNvmeHealthLog;
  query.dataLength = kNvmeHealthBytes;
  std::array<std::uint8_t, sizeof query + kNvmeHealthBytes> answer{};
  const auto bytes = ask(device, kQueryProperty, &query, answer);
  if (!bytes) return refused(GetLastError());
  auto health = parseNvmeHealth(windows::findLogPage(std::span(answer).first(*bytes)));
  if (!health) return failed(std::string(kEmptyLog));
  return {health, {}};
}

// Windows asks for the verdict (SMART RETURN STATUS) and returns the attributes with it.
DriveAnswer askAta(const Handle& device, const std::string& model) {
  std::array<std::uint8_t, sizeof(Prediction)> answer{};
  const auto bytes = ask<char>(device, kPredictFailure, nullptr, answer);
  if (!bytes) return refused(GetLastError());
  if (*bytes < sizeof(Prediction::failure)) return failed("its driver does not report health");
  Prediction prediction;
  std::memcpy(&prediction, answer.data(), sizeof prediction);
  DriveHealth health;
  health.isPassing = prediction.failure == 0;
  if (const auto attributes = parseSmartAttributes(prediction.data, model))
    health = fillFrom(health, *attributes);
  return {health, {}};
}

DriveAnswer askDrive(const FoundDrive& drive) {
  const Handle device = openDrive(drive.path);
  if (!isOpen(device)) return refused(GetLastError());
  BOOL isOn = TRUE;
  if (GetDevicePowerState(device.get(), &isOn) != 0 && isOn == FALSE) return asleep();
  return drive.kind == DriveKind::kNvme ? askNvme(device) : askAta(device, drive.model);
}

FoundDrive describe(const Handle& device, const std::string& name) {
  FoundDrive drive;
  drive.name = name;
  PropertyQuery query;
  std::array<std::uint8_t, 1024> answer{};
  const auto bytes = ask(device, kQueryProperty, &query, answer);
  const auto found = bytes ? windows::parseStorageDevice(std::span(answer).first(*bytes)) : std::nullopt;
  if (found) {
    drive.model = found->model;
    drive.kind = found->kind;
  }
  if (found && found->isVirtual) {
    drive.whyNot = kVirtualDrive;
  } else if (drive.kind != DriveKind::kNvme && drive.kind != DriveKind::kAta) {
    drive.whyNot = kOtherDrive;
  }
  return drive;
}

}  // namespace

std::vector<FoundDrive> findDrives(const Roots&) {
  std::vector<FoundDrive> drives;
  for (unsigned number = 0; number < kMaxDrives; ++number) {
    const std::string name = "PhysicalDrive" + std::to_string(number);
    const std::string path = "\\\\.\\" + name;
    const Handle device = openDrive(path);
    if (!isOpen(device)) continue;
    drives.push_back(describe(device, name));
    drives.back().path = path;
  }
  return drives;
}

std::function<DriveAnswer()> makeDriveQuestion(const FoundDrive& drive) {
  return [drive] { return askDrive(drive); };
}

}  // namespace hostwire
