// The table of sections and their conversion to JavaScript: first the keys of every reading, then those that
// detail adds. The keys mirror src/host/host.ts.
#include "napi/sections.h"

#include "host/cpu.h"
#include "host/disks.h"
#include "host/memory.h"
#include "host/network.h"
#include "napi/js.h"

namespace hostwire {

HOSTWIRE_JS(Pressure, KEY(some), KEY(full))

HOSTWIRE_JS(CpuTimes, KEY(user), KEY(nice), KEY(system), KEY(idle), KEY(iowait), KEY(irq), KEY(steal))

HOSTWIRE_JS(CoreTimes, KEY_IN(times, CpuTimes, user), KEY_IN(times, CpuTimes, nice),
            KEY_IN(times, CpuTimes, system), KEY_IN(times, CpuTimes, idle), KEY_IN(times, CpuTimes, iowait),
            KEY_IN(times, CpuTimes, irq), KEY_IN(times, CpuTimes, steal), KEY(index))

HOSTWIRE_JS(EnergyZone, KEY(name), KEY(microjoules), KEY(rangeMicrojoules))

HOSTWIRE_JS(EnergyReading, KEY(takenAtNs), KEY(zones), key<Self, &Self::failure, orNull>("failure"))

static Napi::Value js(Napi::Env env, const CpuCounters& counters, bool withDetail) {
  using Self = CpuCounters;
  static const Shape plain{KEY(total), KEY(temperatureCelsius), KEY(speedHz)};
  static const Shape detailed =
      plain.with({KEY(cores), KEY(coreSpeedsHz), KEY(pressure), KEY(energy), KEY(loadAverage)});
  return (withDetail ? detailed : plain).make(env, &counters);
}

static Napi::Value js(Napi::Env env, const MemoryCounters& counters, bool withDetail) {
  using Self = MemoryCounters;
  static const Shape plain{KEY(totalBytes), KEY(availableBytes)};
  static const Shape detailed = plain.with(
      {KEY(cachedBytes), KEY(buffersBytes), KEY(swapTotalBytes), KEY(swapFreeBytes), KEY(pressure)});
  return (withDetail ? detailed : plain).make(env, &counters);
}

HOSTWIRE_JS(DiskUsage, KEY(totalBytes), KEY(freeBytes), KEY(availableBytes))

HOSTWIRE_JS(DiskIo, KEY(readBytes), KEY(writeBytes), KEY(busyMs))

static std::optional<std::uint64_t> filesOf(const DiskCounters& disk) {
  return disk.usage ? disk.usage->files : std::nullopt;
}

static std::optional<std::uint64_t> filesFreeOf(const DiskCounters& disk) {
  return disk.usage ? disk.usage->filesFree : std::nullopt;
}

static Napi::Value js(Napi::Env env, const DiskCounters& disk, bool withDetail) {
  using Self = DiskCounters;
  static const Shape plain{KEY(mountPoint), KEY(usage)};
  static const Shape detailed =
      plain.with({KEY(device), KEY(type), KEY(label), KEY(isReadOnly), KEY(isRemovable), KEY(isStale),
                  KEY(io), KEY(ioDevices), key<Self, filesOf>("files"), key<Self, filesFreeOf>("filesFree")});
  return (withDetail ? detailed : plain).make(env, &disk);
}

static Napi::Value js(Napi::Env env, InterfaceKind kind) {
  return named(env, kind, {"ethernet", "wifi", "bond", "bridge", "vlan", "tunnel", "loopback", "other"});
}

static Napi::Value js(Napi::Env env, const InterfaceCounters& link, bool withDetail) {
  using Self = InterfaceCounters;
  static const Shape plain{KEY(name),      KEY(index),         KEY(kind),
                           KEY(hasDevice), KEY(masterIndex),   KEY(lowerIndex),
                           KEY(hasPeer),   KEY(receivedBytes), KEY(sentBytes)};
  static const Shape detailed = plain.with({KEY(receivedPackets), KEY(sentPackets), KEY(receiveErrors),
                                            KEY(sendErrors), KEY(receiveDrops), KEY(sendDrops), KEY(isUp),
                                            KEY(speedMbps), KEY(mac), KEY(addresses), KEY(signalDbm)});
  return (withDetail ? detailed : plain).make(env, &link);
}

HOSTWIRE_JS(GpuCounters, KEY(name), KEY(vendor), KEY(isAsleep), KEY_IN(values, GpuValues, loadPercent),
            KEY_IN(values, GpuValues, temperatureCelsius), KEY_IN(values, GpuValues, memoryUsedBytes),
            KEY_IN(values, GpuValues, memoryTotalBytes), KEY_IN(values, GpuValues, powerWatts),
            KEY_IN(values, GpuValues, fanPercent), KEY_IN(values, GpuValues, clockMhz))

static Napi::Value js(Napi::Env env, const std::vector<GpuCounters>& counters, bool /*withDetail*/) {
  return js(env, counters);
}

template <class T>
static Napi::Value js(Napi::Env env, const std::vector<T>& counters, bool withDetail) {
  auto array = Napi::Array::New(env);
  for (std::uint32_t at = 0; at < counters.size(); ++at) array.Set(at, js(env, counters[at], withDetail));
  return array;
}

template <class Reader>
static Section section(const char* key, const std::shared_ptr<Reader>& reader,
                       std::function<const std::string&()> failure = {}) {
  return {key,
          [reader](Napi::Env env, bool withDetail) { return js(env, reader->read(withDetail), withDetail); },
          std::move(failure), [reader] { return reader->describe(); }};
}

static Section networkSection(const Roots& roots, ProberPool& probers) {
  const auto reader = std::make_shared<NetworkReader>(roots, probers);
  const auto takenAtNs = std::make_shared<std::int64_t>(0);
  return {"network",
          [=](Napi::Env env, bool withDetail) {
            const NetworkReading& reading = reader->read(withDetail);
            *takenAtNs = reading.takenAtNs;
            return js(env, reading.links, withDetail);
          },
          {},
          [=] { return reader->describe(); },
          [=] { return *takenAtNs; }};
}

std::vector<Section> openSections(const Roots& roots, const GpuOptions& gpuOptions, ProberPool& probers) {
  const auto gpu = std::make_shared<GpuReader>(roots, gpuOptions, probers);
  return {
      section("cpu", std::make_shared<CpuReader>(roots, probers)),
      section("memory", std::make_shared<MemoryReader>(roots)),
      section("gpu", gpu, [gpu]() -> const std::string& { return gpu->failure(); }),
      section("disks", std::make_shared<DisksReader>(roots, probers)),
      networkSection(roots, probers),
  };
}

}  // namespace hostwire
