// The table of sections and their conversion to JavaScript: first the keys of every reading, then those that
// detail adds. The keys mirror src/host/host.ts.
#include "napi/sections.h"

#include "host/cpu.h"
#include "host/disks.h"
#include "host/memory.h"
#include "host/network.h"
#include "napi/js.h"

namespace hostwire {

static Napi::Value js(Napi::Env env, const Pressure& pressure) {
  static const Shape shape{Key{"some", &Pressure::some}, Key{"full", &Pressure::full}};
  return shape.make(env, pressure);
}

static Napi::Value js(Napi::Env env, const CpuTimes& times) {
  static const Shape shape{Key{"user", &CpuTimes::user},     Key{"nice", &CpuTimes::nice},
                           Key{"system", &CpuTimes::system}, Key{"idle", &CpuTimes::idle},
                           Key{"iowait", &CpuTimes::iowait}, Key{"irq", &CpuTimes::irq},
                           Key{"steal", &CpuTimes::steal}};
  return shape.make(env, times);
}

static Napi::Value js(Napi::Env env, const CoreTimes& core) {
  constexpr auto kTimes = &CoreTimes::times;
  static const Shape shape{
      Key{"user", inside(kTimes, &CpuTimes::user)},     Key{"nice", inside(kTimes, &CpuTimes::nice)},
      Key{"system", inside(kTimes, &CpuTimes::system)}, Key{"idle", inside(kTimes, &CpuTimes::idle)},
      Key{"iowait", inside(kTimes, &CpuTimes::iowait)}, Key{"irq", inside(kTimes, &CpuTimes::irq)},
      Key{"steal", inside(kTimes, &CpuTimes::steal)},   Key{"index", &CoreTimes::index}};
  return shape.make(env, core);
}

static Napi::Value js(Napi::Env env, const EnergyZone& zone) {
  static const Shape shape{Key{"name", &EnergyZone::name}, Key{"microjoules", &EnergyZone::microjoules},
                           Key{"rangeMicrojoules", &EnergyZone::rangeMicrojoules}};
  return shape.make(env, zone);
}

static Napi::Value js(Napi::Env env, const EnergyReading& energy) {
  static const Shape shape{Key{"takenAtNs", &EnergyReading::takenAtNs}, Key{"zones", &EnergyReading::zones},
                           Key{"failure", orNull(&EnergyReading::failure)}};
  return shape.make(env, energy);
}

static Napi::Value js(Napi::Env env, const CpuCounters& counters, bool withDetail) {
  static const Shape plain{Key{"total", &CpuCounters::total},
                           Key{"temperatureCelsius", &CpuCounters::temperatureCelsius},
                           Key{"speedHz", &CpuCounters::speedHz}};
  static const auto detailed =
      plain.with(Key{"cores", &CpuCounters::cores}, Key{"coreSpeedsHz", &CpuCounters::coreSpeedsHz},
                 Key{"pressure", &CpuCounters::pressure}, Key{"energy", &CpuCounters::energy},
                 Key{"loadAverage", &CpuCounters::loadAverage});
  return withDetail ? detailed.make(env, counters) : plain.make(env, counters);
}

static Napi::Value js(Napi::Env env, const MemoryCounters& counters, bool withDetail) {
  static const Shape plain{Key{"totalBytes", &MemoryCounters::totalBytes},
                           Key{"availableBytes", &MemoryCounters::availableBytes}};
  static const auto detailed = plain.with(
      Key{"cachedBytes", &MemoryCounters::cachedBytes}, Key{"buffersBytes", &MemoryCounters::buffersBytes},
      Key{"swapTotalBytes", &MemoryCounters::swapTotalBytes},
      Key{"swapFreeBytes", &MemoryCounters::swapFreeBytes}, Key{"pressure", &MemoryCounters::pressure});
  return withDetail ? detailed.make(env, counters) : plain.make(env, counters);
}

static Napi::Value js(Napi::Env env, const DiskUsage& usage) {
  static const Shape shape{Key{"totalBytes", &DiskUsage::totalBytes}, Key{"freeBytes", &DiskUsage::freeBytes},
                           Key{"availableBytes", &DiskUsage::availableBytes}};
  return shape.make(env, usage);
}

static Napi::Value js(Napi::Env env, const DiskIo& io) {
  static const Shape shape{Key{"readBytes", &DiskIo::readBytes}, Key{"writeBytes", &DiskIo::writeBytes},
                           Key{"busyMs", &DiskIo::busyMs}};
  return shape.make(env, io);
}

static std::optional<std::uint64_t> filesOf(const DiskCounters& disk) {
  return disk.usage ? disk.usage->files : std::nullopt;
}

static std::optional<std::uint64_t> filesFreeOf(const DiskCounters& disk) {
  return disk.usage ? disk.usage->filesFree : std::nullopt;
}

static Napi::Value js(Napi::Env env, const DiskCounters& disk, bool withDetail) {
  static const Shape plain{Key{"mountPoint", &DiskCounters::mountPoint}, Key{"usage", &DiskCounters::usage}};
  static const auto detailed =
      plain.with(Key{"device", &DiskCounters::device}, Key{"type", &DiskCounters::type},
                 Key{"label", &DiskCounters::label}, Key{"isReadOnly", &DiskCounters::isReadOnly},
                 Key{"isRemovable", &DiskCounters::isRemovable}, Key{"isStale", &DiskCounters::isStale},
                 Key{"io", &DiskCounters::io}, Key{"ioDevices", &DiskCounters::ioDevices},
                 Key{"files", filesOf}, Key{"filesFree", filesFreeOf});
  return withDetail ? detailed.make(env, disk) : plain.make(env, disk);
}

static Napi::Value js(Napi::Env env, InterfaceKind kind) {
  const auto name = [kind] {
    switch (kind) {
      case InterfaceKind::kEthernet: return "ethernet";
      case InterfaceKind::kWifi: return "wifi";
      case InterfaceKind::kBond: return "bond";
      case InterfaceKind::kBridge: return "bridge";
      case InterfaceKind::kVlan: return "vlan";
      case InterfaceKind::kTunnel: return "tunnel";
      case InterfaceKind::kLoopback: return "loopback";
      case InterfaceKind::kOther: break;
    }
    return "other";
  };
  return js(env, name());
}

static Napi::Value js(Napi::Env env, const InterfaceCounters& link, bool withDetail) {
  using Link = InterfaceCounters;
  static const Shape plain{Key{"name", &Link::name},
                           Key{"index", &Link::index},
                           Key{"kind", &Link::kind},
                           Key{"hasDevice", &Link::hasDevice},
                           Key{"masterIndex", &Link::masterIndex},
                           Key{"lowerIndex", &Link::lowerIndex},
                           Key{"hasPeer", &Link::hasPeer},
                           Key{"receivedBytes", &Link::receivedBytes},
                           Key{"sentBytes", &Link::sentBytes}};
  static const auto detailed =
      plain.with(Key{"receivedPackets", &Link::receivedPackets}, Key{"sentPackets", &Link::sentPackets},
                 Key{"receiveErrors", &Link::receiveErrors}, Key{"sendErrors", &Link::sendErrors},
                 Key{"receiveDrops", &Link::receiveDrops}, Key{"sendDrops", &Link::sendDrops},
                 Key{"isUp", &Link::isUp}, Key{"speedMbps", &Link::speedMbps}, Key{"mac", &Link::mac},
                 Key{"addresses", &Link::addresses}, Key{"signalDbm", &Link::signalDbm});
  return withDetail ? detailed.make(env, link) : plain.make(env, link);
}

static Napi::Value js(Napi::Env env, const GpuCounters& gpu) {
  constexpr auto kValues = &GpuCounters::values;
  static const Shape shape{Key{"name", &GpuCounters::name},
                           Key{"vendor", &GpuCounters::vendor},
                           Key{"isAsleep", &GpuCounters::isAsleep},
                           Key{"loadPercent", inside(kValues, &GpuValues::loadPercent)},
                           Key{"temperatureCelsius", inside(kValues, &GpuValues::temperatureCelsius)},
                           Key{"memoryUsedBytes", inside(kValues, &GpuValues::memoryUsedBytes)},
                           Key{"memoryTotalBytes", inside(kValues, &GpuValues::memoryTotalBytes)},
                           Key{"powerWatts", inside(kValues, &GpuValues::powerWatts)},
                           Key{"fanPercent", inside(kValues, &GpuValues::fanPercent)},
                           Key{"clockMhz", inside(kValues, &GpuValues::clockMhz)}};
  return shape.make(env, gpu);
}

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
