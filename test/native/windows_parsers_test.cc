// The pure parts of the Windows platform, with the values that Windows reports: runs on every platform.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "../windows/checks.h"
#include "firmware/parse_brand.h"
#include "firmware/parse_smbios.h"
#include "host/decimal.h"
#include "windows/process/parse_processes.h"
#include "windows/sensors/parse_battery_status.h"
#include "windows/system/parse_windows.h"
#include "windows/win32/parse_counters.h"
#include "windows/win32/processor_times.h"

namespace {

using checks::check;
using checks::equal;
using hostwire::CounterInstance;

void testProcessorTimes() {
  // 100 ns: 60 of the kernel's 100 were idle, 5 deferred calls, 3 interrupts.
  const hostwire::CpuTimes times = hostwire::timesOf({60, 100, 40, 5, 3, 0});
  check(times.user == 40 && times.system == 32 && times.idle == 60 && times.irq == 8,
        "kernel time is divided");
  const hostwire::CpuTimes odd = hostwire::timesOf({90, 80, -1, 0, 0, 0});
  check(odd.system == 0 && odd.user == 0, "what steps back is 0, not enormous");
}

void testCounters() {
  const auto cores = hostwire::corePercentages(
      {{"0,1", 50}, {"1,0", 30}, {"_Total", 1}, {"0,0", 125}, {"0,_Total", 2}, {"0,10", 7}, {"0,2", -4}});
  check(cores == std::vector<double>{125, 50, 0, 7, 30}, "processors in the order of their numbers");
  const auto instance =
      hostwire::parseGpuInstance("pid_4_luid_0x00000001_0x0000C4D1_phys_2_eng_13_engtype_Copy");
  check(instance && instance->luid == 0x10000C4D1 && instance->part == 2 && instance->engine == 13U,
        "an engine");
  check(!hostwire::parseGpuInstance("pid_4_luid_0x0000000G_phys_0"), "no number, no instance");
  check(!hostwire::parseGpuInstance("_Total"), "a total is none");
  const auto loads = hostwire::sumGpuLoads({{"pid_1_luid_0x0_0x5_phys_0_eng_0_engtype_3D", 30},
                                            {"pid_2_luid_0x0_0x5_phys_0_eng_0_engtype_3D", 25},
                                            {"pid_2_luid_0x0_0x5_phys_0_eng_1_engtype_3D", 54},
                                            {"pid_2_luid_0x0_0x6_phys_0_eng_0_engtype_3D", 900},
                                            {"luid_0x0_0x7_phys_0", 5}});
  check(loads.size() == 2 && loads.at(5) == 55 && loads.at(6) == 100, "the busiest engine, 100 at most");
  const auto bytes = hostwire::sumGpuBytes({{"luid_0x0_0x5_phys_0", 1024}, {"luid_0x0_0x5_phys_1", 1}});
  check(bytes.at(5) == 1025, "linked parts are one device");
}

void testNames() {
  hostwire::WindowsVersion version;
  version.build = 22631;
  version.revision = 4317;
  version.productName = "Windows 10 Pro";
  version.displayVersion = "23H2";
  auto os = hostwire::nameWindows(version);
  equal(os.name, "Windows 11 Pro", "the registry says 10 of it");
  equal(os.version, "23H2", "version");
  equal(os.build, "22631.4317", "build");
  version.build = 19045;
  version.displayVersion = "";
  version.revision = 0;
  os = hostwire::nameWindows(version);
  equal(os.name, "Windows 10 Pro", "10 is 10");
  equal(os.version, "10.0", "without a name of its own");
  equal(os.build, "19045", "without a revision");
  version.isServer = true;
  version.build = 26100;
  version.productName = "";
  equal(hostwire::nameWindows(version).name, "Windows Server", "a server without a name");
  version.productName = "Microsoft Windows 10";
  equal(hostwire::nameWindows(version).name, "Windows 10", "of servers nothing is changed");
  equal(hostwire::cleanBrand("Intel(R) Core(TM) i7-8700K CPU @ 3.70GHz"), "Intel Core i7-8700K", "a brand");
  equal(hostwire::manufacturerOf("AuthenticAMD"), "AMD", "a vendor");
  check(hostwire::parseBrandSpeed("x @ 3.70GHz") == 3.7e9 && !hostwire::parseBrandSpeed("x @ nanGHz"),
        "a speed");
}

// Compared with strtod, which reads more: exponents, "inf", "0x1".
void testDecimals() {
  const auto isAsStrtod = [](const std::string& number, const std::string& rest) {
    const std::string text = number + rest;
    std::string_view left = text;
    const auto value = hostwire::takeDecimal(left);
    return value == std::strtod(number.c_str(), nullptr) && left == rest;
  };
  check(isAsStrtod("0.52", " 0.5") && isAsStrtod("2445.406", "") && isAsStrtod("-56.", "") &&
            isAsStrtod("123456789.123456", "GHz") && isAsStrtod("7", "e3") && isAsStrtod("0", "x1") &&
            isAsStrtod(".5", ".5") && isAsStrtod("1." + std::string(400, '0'), ""),
        "decimal numbers");
  for (const std::string& text : {std::string(), std::string("-"), std::string("."), std::string("inf"),
                                  std::string("+1"), std::string(400, '9')}) {
    std::string_view left = text;
    check(!hostwire::takeDecimal(left) && left == text, "no decimal number");
  }
}

std::string structure(std::uint8_t type, const std::string& body, const std::string& strings) {
  std::string text{static_cast<char>(type), static_cast<char>(4 + body.size()), '\0', '\0'};
  return text + body + strings + std::string(2, '\0');
}

void testSmbios() {
  const auto module = [](char low) {
    return structure(17, std::string(8, '\0') + std::string{low, '\0'} + std::string(6, '\0'), "DIMM");
  };
  const std::string table =
      structure(0, "", "BIOS") + module(16) + module(0) + module(8) + structure(127, "", "");
  std::string raw(8, '\0');
  raw[4] = static_cast<char>(table.size() % 256);
  raw[5] = static_cast<char>(table.size() / 256);
  check(hostwire::findSmbiosTable(raw + table + "behind it") == table,
        "the table, and what follows is left out");
  check(hostwire::parseDmiMemoryModules(hostwire::findSmbiosTable(raw + table)) == 2U, "two of three slots");
  check(hostwire::findSmbiosTable(raw.substr(0, 7)).empty(), "no whole header");
  check(!hostwire::parseDmiMemoryModules(structure(0, "", "BIOS")), "no slots known is not no modules");
}

void testBatteries() {
  hostwire::windows::BatteryFacts facts;
  facts.capabilities = 0x80000000;
  facts.designedCapacity = 50'000;
  facts.fullChargedCapacity = 40'000;
  auto battery = hostwire::windows::batteryOf(facts, {2, 30'000, 11'400, -8'500}, 7200U);
  check(battery.state == "discharging" && battery.percent == 75 && battery.energyWh == 30 &&
            battery.energyFullWh == 40 && battery.energyDesignWh == 50,
        "its energy");
  check(battery.voltageVolts == 11.4 && battery.powerWatts == 8.5 && battery.secondsToEmpty == 7200,
        "its power");
  battery = hostwire::windows::batteryOf(facts, {5, 30'000, 11'400, 20'000}, 7200U);
  check(battery.state == "charging" && battery.powerWatts == 20 && !battery.secondsToEmpty, "charging");
  check(hostwire::windows::batteryOf(facts, {1, 40'000, 0, 0}, {}).state == "full", "full");
  check(hostwire::windows::batteryOf(facts, {1, 39'000, 0, 0}, {}).state == "not_charging",
        "held below full");
  constexpr std::int32_t kUnknownRate = -2'147'483'647 - 1;
  battery = hostwire::windows::batteryOf(facts, {0, 0xFFFFFFFF, 0xFFFFFFFF, kUnknownRate}, 0xFFFFFFFFU);
  check(battery.state == "unknown" && !battery.percent && !battery.voltageVolts && !battery.powerWatts,
        "what nobody knows");
  facts.capabilities |= 0x40000000;
  battery = hostwire::windows::batteryOf(facts, {2, 20'000, 11'400, -5}, {});
  check(battery.percent == 50 && !battery.energyWh && !battery.powerWatts,
        "relative: a share, and no energy");
  check(hostwire::windows::isSystemBattery(facts), "it powers the machine");
  facts.capabilities |= 0x20000000;
  check(!hostwire::windows::isSystemBattery(facts), "an UPS is none");
}

// One process, with the offsets of SYSTEM_PROCESS_INFORMATION (x64).
void testProcesses() {
  std::array<std::byte, 256> bytes{};
  const auto put = [&bytes](std::size_t at, auto number) {
    std::memcpy(bytes.data() + at, &number, sizeof number);
  };
  put(80, std::uint64_t{4711});
  put(144, std::uint64_t{1} << 33U);
  put(232, std::int64_t{5'000'000'000});
  put(240, std::int64_t{-1});
  const auto found = hostwire::parseProcesses(bytes, 0);
  check(found.size() == 1 && found[0].pid == 4711 && found[0].residentBytes == std::uint64_t{1} << 33U,
        "a process");
  check(found[0].readBytes == 5'000'000'000 && found[0].writeBytes == 0, "what it has transferred");
}

}  // namespace

int main() {
  testProcesses();
  testProcessorTimes();
  testCounters();
  testNames();
  testDecimals();
  testSmbios();
  testBatteries();
  return checks::report();
}
