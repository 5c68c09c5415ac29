// Fuzz targets: the texts that metrics are made of.
#include <algorithm>
#include <cstring>
#include <string>

#include "fuzz/targets.h"
#include "linux/metrics/parse_clock.h"
#include "linux/metrics/parse_counters.h"
#include "linux/metrics/parse_devices.h"
#include "linux/metrics/parse_links.h"
#include "linux/metrics/parse_sockets.h"
#include "linux/network/parse_network.h"

namespace hostwire {
namespace {

// Every line is a heading or a sample: no part of a kernel text begins a line of its own.
void check(const Exposition& out) {
  const std::string& text = out.text();
  require(text.empty() || text.back() == '\n', "the last line has an end");
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = text.find('\n', at);
    const std::string_view line = std::string_view(text).substr(at, end - at);
    require(line.starts_with("# HELP node_") || line.starts_with("# TYPE node_") || line.starts_with("node_"),
            "a heading or a sample");
    at = end + 1;
  }
}

template <auto Write>
void write(std::string_view input) {
  Exposition out;
  Write(input, out);
  check(out);
}

void runStat(std::string_view input) {
  Exposition out;
  SteadyTimes times;
  writeStat(input, std::nullopt, times, out);
  writeStat(input.substr(input.size() / 2), 7, times, out);
  check(out);
}

// The text is also used as udev's.
void runDevices(std::string_view input) {
  Exposition out;
  writeBlockDevices(
      input, [&](auto, auto) { return std::string(input); }, out);
  check(out);
}

// Uses any bytes as the kernel's answer.
void runClock(std::string_view input) {
  timex clock{};
  if (!input.empty()) std::memcpy(&clock, input.data(), std::min(sizeof clock, input.size()));
  Exposition out;
  writeClock(clock, clock.status, out);
  check(out);
}

void runPressure(std::string_view input) {
  for (const char* resource : {"cpu", "io", "memory", "irq", "other"}) {
    Exposition out;
    writePressure(resource, input, out);
    check(out);
  }
}

void runSockets(std::string_view input) {
  Exposition out;
  writeSockets(input, 4096, out);
  check(out);
}

void runLinks(std::string_view input) {
  Exposition out;
  std::vector<LinkMetrics> links;
  if (auto link = parseLinkMetrics(input)) links.push_back(std::move(*link));
  writeLinks(links, out);
  check(out);
}

void runLinkCounters(std::string_view input) {
  Exposition out;
  writeLinkCounters(parseNetDev(input), out);
  check(out);
}

}  // namespace

const std::vector<FuzzTarget>& metricsTargets() {
  static const std::vector<FuzzTarget> targets{
      {"metrics-stat", "/stat", runStat},
      {"metrics-load", "/loadavg", write<writeLoad>},
      {"metrics-memory", "/meminfo", write<writeMemory>},
      {"metrics-pressure", "/pressure/cpu", runPressure},
      {"metrics-vmstat", "/vmstat", write<writeVmstat>},
      {"metrics-descriptors", "/file-nr", write<writeFileDescriptors>},
      {"metrics-os", "/os-release", write<writeOs>},
      {"metrics-devices", "/diskstats", runDevices},
      {"metrics-sockets", "/sockstat", runSockets},
      {"metrics-protocols", "/snmp", write<writeProtocols>},
      {"metrics-protocols6", "/snmp6", write<writeProtocols6>},
      {"metrics-queues", "/softnet_stat", write<writePacketQueues>},
      {"metrics-clock", "", runClock},
      {"metrics-clock-source", "/current_clocksource", write<writeCurrentClockSource>},
      {"metrics-clock-sources", "/available_clocksource", write<writeClockSources>},
      {"metrics-links", "", runLinks},
      {"metrics-netdev", "/net/dev", runLinkCounters},
      {"metrics-value", "/loadavg", call<parseMetricValue>}};
  return targets;
}

}  // namespace hostwire
