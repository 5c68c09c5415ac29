// The values parsed from the answers of drives (laid out as in the NVMe and ATA standards), and which
// answers the reader still shows: on a platform of its own, whose drives the test controls.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "../windows/checks.h"
#include "firmware/parse_ata_health.h"
#include "firmware/parse_nvme_health.h"
#include "host/drive_probe.h"
#include "host/prober.h"
#include "windows/drives/parse_storage.h"

namespace {

using checks::check;
using checks::comes;
using checks::equal;
using hostwire::AtaRegisters;
using hostwire::DriveAnswer;
using hostwire::DriveHealth;
using hostwire::FoundDrive;
using std::chrono::milliseconds;

using Bytes = std::vector<std::uint8_t>;

void put(Bytes& bytes, std::size_t at, std::uint64_t value, std::size_t width) {
  for (std::size_t byte = 0; byte < width; ++byte)
    bytes.at(at + byte) = static_cast<std::uint8_t>(value >> (8 * byte));
}

Bytes nvmePage() {
  Bytes page(512);
  put(page, 1, 273 + 41, 2);
  page[3] = 100;  // available spare
  page[5] = 107;
  put(page, 128, 21'345, 16 / 2);
  put(page, 160, 2, 8);
  return page;
}

void testNvme() {
  Bytes page = nvmePage();
  check(hostwire::parseNvmeHealth(page) == DriveHealth{true, 107, 21'345, 41, 2}, "a health log");
  page[0] = 0x04;
  check(hostwire::parseNvmeHealth(page)->isPassing == false, "any critical warning is one");
  put(page, 1, 0, 2);
  page[128 + 9] = 1;
  const auto odd = hostwire::parseNvmeHealth(page);
  check(odd && !odd->temperatureCelsius && !odd->powerOnHours && odd->mediaErrors == 2U,
        "no sensor, and a counter beyond belief");
  check(!hostwire::parseNvmeHealth(Bytes(512)), "an empty log");
  check(!hostwire::parseNvmeHealth(std::span(page).first(511)), "a log cut short");
}

struct Attribute {
  std::uint8_t id;
  std::uint64_t raw;
};

Bytes smartData(const std::vector<Attribute>& attributes) {
  Bytes data(512);
  put(data, 0, 16, 2);
  for (std::size_t i = 0; i < attributes.size(); ++i) {
    const std::size_t at = 2 + 12 * i;
    data[at] = attributes[i].id;
    data[at + 3] = data[at + 4] = 100;
    put(data, at + 5, attributes[i].raw, 6);
  }
  unsigned sum = 0;
  for (const std::uint8_t byte : data) sum += byte;
  data[511] = static_cast<std::uint8_t>(0U - sum);
  return data;
}

void testAttributes() {
  // A Seagate: milliseconds above the hours, lowest and highest above the temperature.
  const auto disk =
      smartData({{5, 8}, {9, 0x2A'0000'7A12}, {190, 0x2D1C'0026}, {194, 0x0014'0000'0026}, {187, 3}});
  check(hostwire::parseSmartAttributes(disk, "ST4000DM004-2CV104") == DriveHealth{{}, {}, 0x7A12, 38, 3},
        "attributes of a disk");
  check(hostwire::parseSmartAttributes(disk, "SAMSUNG SP0802N") == DriveHealth{}, "units of its own");
  // Wear: 231, 233, 202 and 177 mean something else on each of these.
  check(hostwire::parseSmartAttributes(smartData({{177, 5}, {202, 97}, {231, 98}, {233, 1234}}), "SSD") ==
            DriveHealth{},
        "what vendors define differently stays unknown");
  check(hostwire::parseSmartAttributes(smartData({{190, 31}}), "QEMU HARDDISK")->temperatureCelsius == 31.0,
        "190 where there is no 194");
  check(hostwire::parseSmartAttributes(smartData({{194, 0}, {190, 0x8F}}), "SSD") == DriveHealth{},
        "no drive has these temperatures");
  check(!hostwire::parseSmartAttributes(smartData({{187, 0x0001'0000'0003}}), "SSD")->mediaErrors,
        "a packed counter is not one");
  Bytes broken = disk;
  broken[20] ^= 1U;
  check(!hostwire::parseSmartAttributes(broken, "ST4000"), "a wrong checksum");
  check(!hostwire::parseSmartAttributes(Bytes(512), "ST4000"), "empty data");
  check(!hostwire::parseSmartAttributes(std::span(disk).first(500), "ST4000"), "data cut short");
}

constexpr std::uint64_t kValid = 0xC0ULL << 56U;

Bytes statistics() {
  Bytes pages(512 * 8);
  for (std::size_t page = 0; page < 8; ++page) {
    put(pages, page * 512, 1, 2);
    pages[page * 512 + 2] = static_cast<std::uint8_t>(page);
  }
  put(pages, 1 * 512 + 16, kValid | 40'321, 8);
  put(pages, 4 * 512 + 8, kValid | 7, 8);
  put(pages, 5 * 512 + 8, kValid | 0xFB, 8);  // -5
  put(pages, 7 * 512 + 8, kValid | 12, 8);
  return pages;
}

void testStatistics() {
  Bytes pages = statistics();
  const DriveHealth health = hostwire::parseDeviceStatistics(pages);
  check(health == DriveHealth{{}, 12, 40'321, -5, 7}, "device statistics");
  check(hostwire::fillFrom(health, {true, 99, 1, 1, 1}) == DriveHealth{true, 12, 40'321, -5, 7},
        "what the standard defines comes first");
  put(pages, 1 * 512 + 16, (0x80ULL << 56U) | 40'321, 8);
  check(!hostwire::parseDeviceStatistics(pages).powerOnHours, "supported, and not valid");
  pages[7 * 512 + 2] = 6;
  check(!hostwire::parseDeviceStatistics(pages).percentageUsed, "another page than the one asked for");
  check(!hostwire::parseDeviceStatistics(std::span(pages).first(512 * 5)).temperatureCelsius, "five pages");
  Bytes directory(512);
  put(directory, 0, 1, 2);
  put(directory, 8, 8, 2);
  check(hostwire::parseAtaLogPages(directory, hostwire::kAtaStatisticsLog) == 8, "pages of a log");
  check(hostwire::parseAtaLogPages(Bytes(512), hostwire::kAtaStatisticsLog) == 0, "no directory");
}

// As libata builds it: descriptor format, recovered error, 00h/1Dh.
Bytes descriptorSense(std::uint8_t count, std::uint8_t mid, std::uint8_t high, std::uint8_t status) {
  Bytes sense(22);
  const std::uint8_t head[] = {0x72, 0x01, 0x00, 0x1D, 0, 0, 0, 14, 0x09, 0x0C};
  std::memcpy(sense.data(), head, sizeof head);
  sense[13] = count;
  sense[17] = mid;
  sense[19] = high;
  sense[21] = status;
  return sense;
}

// The answer of host adapters with fixed-format sense data.
Bytes fixedSense(std::uint8_t count, std::uint8_t mid, std::uint8_t high, std::uint8_t status) {
  Bytes sense(32);
  sense[0] = 0x70;
  sense[2] = 0x01;
  sense[4] = status;
  sense[6] = count;
  sense[10] = mid;
  sense[11] = high;
  sense[13] = 0x1D;
  return sense;
}

void testSense() {
  for (const auto make : {descriptorSense, fixedSense}) {
    const auto good = hostwire::parseAtaSense(make(0xFF, 0x4F, 0xC2, 0x50));
    check(good && !hostwire::isAtaStandby(*good) && hostwire::parseSmartStatus(*good) == true, "all is well");
    const auto bad = hostwire::parseAtaSense(make(0x00, 0xF4, 0x2C, 0x50));
    check(bad && hostwire::isAtaStandby(*bad) && hostwire::parseSmartStatus(*bad) == false,
          "it expects to fail");
    const auto aborted = hostwire::parseAtaSense(make(0x00, 0x4F, 0xC2, 0x51));
    check(aborted && !hostwire::isAtaStandby(*aborted) && !hostwire::parseSmartStatus(*aborted), "refused");
  }
  for (const std::uint8_t count : Bytes{0x80, 0x81, 0x82, 0x83, 0x41, 0xFF})
    check(!hostwire::isAtaStandby({0, 0x50, count, 0, 0}), "idle is awake");
  for (const std::uint8_t count : Bytes{0x00, 0x01, 0x40})
    check(hostwire::isAtaStandby({0, 0x50, count, 0, 0}), "standby is not");
  check(!hostwire::parseAtaSense(Bytes(22)), "no sense data");
  Bytes other = fixedSense(0, 0x4F, 0xC2, 0x50);
  other[13] = 0;
  check(!hostwire::parseAtaSense(other), "sense data of something else");
}

void testIdentity() {
  Bytes identity(512);
  put(identity, 2 * 82, 0x4021, 2);
  put(identity, 2 * 83, 0x4000, 2);
  put(identity, 2 * 84, 0x4001, 2);
  put(identity, 2 * 85, 0x4021, 2);
  auto found = hostwire::parseAtaIdentity(identity);
  check(found && found->hasSmart && found->isSmartEnabled && found->hasLogs, "a drive with SMART");
  put(identity, 2 * 85, 0x4020, 2);
  found = hostwire::parseAtaIdentity(identity);
  check(found && found->hasSmart && !found->isSmartEnabled, "disabled");
  put(identity, 2 * 83, 0xFFFF, 2);
  check(!hostwire::parseAtaIdentity(identity)->hasSmart, "words that are not defined");
  check(!hostwire::parseAtaIdentity(std::span(identity).first(100)), "cut short");
  Bytes page(572);
  page[1] = 0x89;
  const std::string model = "Samsung SSD 870 EVO 1TB                 ";
  for (std::size_t i = 0; i < model.size(); ++i)
    page[60 + 54 + (i ^ 1U)] = static_cast<std::uint8_t>(model[i]);
  check(hostwire::parseAtaModel(page) == model, "the whole model");
  page[1] = 0x83;
  equal(hostwire::parseAtaModel(page), "", "another page");
}

void testWindows() {
  Bytes descriptor(128);
  put(descriptor, 12, 40, 4);
  put(descriptor, 16, 60, 4);
  put(descriptor, 28, 0x11, 4);
  std::memcpy(&descriptor[40], "NVMe    ", 8);
  std::memcpy(&descriptor[60], "WD_BLACK  SN850X 2000GB ", 24);
  auto device = hostwire::windows::parseStorageDevice(descriptor);
  check(device && device->kind == hostwire::DriveKind::kNvme && !device->isVirtual, "a drive's bus");
  equal(device->model, "WD_BLACK SN850X 2000GB", "its model");
  put(descriptor, 28, 0x0E, 4);
  put(descriptor, 12, 4'000'000'000, 4);
  device = hostwire::windows::parseStorageDevice(descriptor);
  check(device && device->isVirtual, "a virtual bus; an offset beyond the end");
  check(!hostwire::windows::parseStorageDevice(std::span(descriptor).first(31)), "cut short");
  Bytes answer(8 + 40);
  put(answer, 8 + 16, 40, 4);
  put(answer, 8 + 20, 512, 4);
  check(hostwire::windows::findLogPage(answer).empty(), "a page that is not there");
  const Bytes page = nvmePage();
  answer.insert(answer.end(), page.begin(), page.end());
  check(hostwire::parseNvmeHealth(hostwire::windows::findLogPage(answer))->powerOnHours == 21'345U,
        "its page");
}

// The drives of this platform: `good` answers, `asleep` did once, `broken` fails.
std::atomic<bool> isAsleep{false};
std::atomic<bool> hasAll{true};
std::atomic<int> asked{0};
std::atomic<bool> isPassing{true};

}  // namespace

namespace hostwire {

std::vector<FoundDrive> findDrives(const Roots&) {
  std::vector<FoundDrive> drives{{"good", "Good", DriveKind::kNvme, "", "", ""}};
  if (!hasAll) return drives;
  drives.push_back({"asleep", "Sleeper", DriveKind::kAta, "", "", ""});
  drives.push_back({"broken", "Broken", DriveKind::kAta, "", "", ""});
  drives.push_back({"virtual", "", DriveKind::kOther, "", "", std::string(kVirtualDrive)});
  return drives;
}

std::function<DriveAnswer()> makeDriveQuestion(const FoundDrive& drive) {
  if (drive.name == "good")
    return [] { return DriveAnswer{DriveHealth{isPassing, 1, 2, 30 + ++asked, 4}, {}}; };
  if (drive.name == "broken") return []() -> DriveAnswer { throw std::runtime_error("no such luck"); };
  return [] { return isAsleep ? asleep() : DriveAnswer{DriveHealth{true, {}, 5, 28, 0}, {}}; };
}

}  // namespace hostwire

namespace {

using hostwire::DriveCounters;

void testReader() {
  hostwire::ProberPool pool;
  hostwire::DrivesReader reader({}, pool, {milliseconds{1}, milliseconds{1}, milliseconds{60'000}});
  std::vector<DriveCounters> drives;
  const auto read = [&] {
    drives = reader.read();
    pool.askAll(milliseconds{0});
  };
  const auto until = [&](const std::function<bool()>& is) {
    return comes([&] {
      read();
      return is();
    });
  };
  check(until([&] { return drives.size() == 4 && drives[0].health && drives[1].health; }), "all are found");
  check(until([&] { return drives[2].failure == "no such luck"; }), "why a question failed");
  check(!drives[2].health && drives[0].health->isPassing == true, "which costs no other drive");
  equal(drives[3].failure, "a virtual disk has no health", "what needs no asking");
  check(drives[1].health->temperatureCelsius == 28.0, "awake");
  const auto row = [&reader] { return reader.describe().at(0); };
  equal(row().source, "good, asleep from the drive's own health log (SMART)", "what is read from where");
  equal(row().obstacle.reason, "broken: no such luck, virtual: a virtual disk has no health", "and why not");
  isAsleep = true;
  check(until([&] { return drives[1].health && !drives[1].health->temperatureCelsius; }), "no temperature");
  check(drives[1].health->powerOnHours == 5U && drives[1].failure.empty(),
        "asleep it keeps what it reported");
  hasAll = false;
  check(until([&] { return drives.size() == 1; }), "drives go");
  check(row().status == hostwire::Finding::Status::kWorks, "all of them have health");
  isPassing = false;
  check(until([&] { return drives[0].health->isPassing == false; }), "it fails");
  equal(row().obstacle.reason, "good: it predicts its own failure", "which is said");
  equal(row().obstacle.remedy, "back up and replace the drive that predicts its own failure", "with advice");
  hasAll = true;
  check(until([&] { return drives.size() == 4 && drives[1].failure.starts_with("it is asleep"); }),
        "one that was never awake has nothing to keep");
}

void testAges() {
  hostwire::ProberPool pool;
  hostwire::DrivesReader reader({}, pool, {milliseconds{1}, milliseconds{100'000}, milliseconds{50}});
  const auto temperature = [&]() -> std::optional<double> {
    const auto drives = reader.read();
    pool.askAll(milliseconds{0});
    if (drives.empty() || !drives[0].health) return std::nullopt;
    return drives[0].health->temperatureCelsius;
  };
  check(comes([&] { return temperature().has_value(); }), "it answers");
  const int before = asked;
  check(comes([&] { return !temperature(); }), "an old temperature is not shown");
  check(asked == before, "for a drive is asked no more often than its least age");
  check(reader.read().at(0).health->powerOnHours == 2U, "the rest stays");
}

}  // namespace

int main() {
  testNvme();
  testAttributes();
  testStatistics();
  testSense();
  testIdentity();
  testWindows();
  testReader();
  testAges();
  return checks::report();
}
