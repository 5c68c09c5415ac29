// Structs to JavaScript objects.
#include "napi/to_js.h"

#include <optional>
#include <string>

#include "napi/shape.h"

namespace hostwire {
namespace {

// What the default view needs of every reading. Keys that only detail has are set one by one.
constexpr Shape kCpuTimesShape{0, "user, nice, system, idle, iowait, irq, steal"};
constexpr Shape kCpuShape{1, "total, temperatureCelsius, speedHz"};
constexpr Shape kMemoryShape{2, "totalBytes, availableBytes"};
constexpr Shape kDiskUsageShape{3, "totalBytes, freeBytes, availableBytes"};
constexpr Shape kDiskShape{4, "mountPoint, usage"};
constexpr Shape kInterfaceShape{5, "name, index, kind, hasDevice, isMember, receivedBytes, sentBytes"};
constexpr Shape kCountersShape{
    6, "takenAtNs, sinceBootNs, unixMs, cpu, memory, gpus, disks, interfaces, failures"};

}  // namespace

// static rather than in an unnamed namespace: the templates below must find every overload by its argument.

static Napi::Value js(Napi::Env env, const std::string& value) { return Napi::String::New(env, value); }
static Napi::Value js(Napi::Env env, bool value) { return Napi::Boolean::New(env, value); }
// Counters pass 2^53 only after petabytes; there they lose single bytes.
template <class Number>
requires std::is_arithmetic_v<Number>
static Napi::Value js(Napi::Env env, Number value) {
  return Napi::Number::New(env, static_cast<double>(value));
}

static Napi::Value js(Napi::Env env, const Pressure& pressure) {
  auto object = Napi::Object::New(env);
  object.Set("some", js(env, pressure.some));
  object.Set("full", js(env, pressure.full));
  return object;
}

template <class T>
static Napi::Value js(Napi::Env env, const std::optional<T>& value) {
  return value ? js(env, *value) : env.Null();
}

template <class T>
static Napi::Value js(Napi::Env env, const std::vector<T>& values) {
  auto array = Napi::Array::New(env, values.size());
  for (std::uint32_t i = 0; i < values.size(); ++i) array.Set(i, js(env, values[i]));
  return array;
}

static Napi::Object js(Napi::Env env, const CpuTimes& times) {
  return makeObject(env, kCpuTimesShape,
                    {js(env, times.user), js(env, times.nice), js(env, times.system), js(env, times.idle),
                     js(env, times.iowait), js(env, times.irq), js(env, times.steal)});
}

static Napi::Value js(Napi::Env env, const CoreTimes& core) {
  auto object = js(env, core.times);
  object.Set("index", js(env, core.index));
  return object;
}

static Napi::Value js(Napi::Env env, const DiskUsage& usage) {
  return makeObject(env, kDiskUsageShape,
                    {js(env, usage.totalBytes), js(env, usage.freeBytes), js(env, usage.availableBytes)});
}

static Napi::Value js(Napi::Env env, const DiskIo& io) {
  auto object = Napi::Object::New(env);
  object.Set("readBytes", js(env, io.readBytes));
  object.Set("writeBytes", js(env, io.writeBytes));
  object.Set("busyMs", js(env, io.busyMs));
  return object;
}

static const char* nameOf(InterfaceKind kind) {
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
}

static Napi::Value toObject(Napi::Env env, const DiskCounters& disk, bool withDetail) {
  auto object = makeObject(env, kDiskShape, {js(env, disk.mountPoint), js(env, disk.usage)});
  if (!withDetail) return object;
  object.Set("device", js(env, disk.device));
  object.Set("type", js(env, disk.type));
  object.Set("label", js(env, disk.label));
  object.Set("isReadOnly", js(env, disk.isReadOnly));
  object.Set("isRemovable", js(env, disk.isRemovable));
  object.Set("isStale", js(env, disk.isStale));
  object.Set("io", js(env, disk.io));
  return object;
}

static Napi::Value toObject(Napi::Env env, const InterfaceCounters& link, bool withDetail) {
  auto object = makeObject(env, kInterfaceShape,
                           {js(env, link.name), js(env, link.index),
                            Napi::String::New(env, nameOf(link.kind)), js(env, link.hasDevice),
                            js(env, link.isMember), js(env, link.receivedBytes), js(env, link.sentBytes)});
  if (!withDetail) return object;
  object.Set("receivedPackets", js(env, link.receivedPackets));
  object.Set("sentPackets", js(env, link.sentPackets));
  object.Set("receiveErrors", js(env, link.receiveErrors));
  object.Set("sendErrors", js(env, link.sendErrors));
  object.Set("receiveDrops", js(env, link.receiveDrops));
  object.Set("sendDrops", js(env, link.sendDrops));
  object.Set("isUp", js(env, link.isUp));
  object.Set("speedMbps", js(env, link.speedMbps));
  object.Set("mac", js(env, link.mac));
  object.Set("addresses", js(env, link.addresses));
  object.Set("signalDbm", js(env, link.signalDbm));
  return object;
}

static Napi::Value toObject(Napi::Env env, const GpuCounters& gpu, bool /*withDetail*/) {
  auto object = Napi::Object::New(env);
  object.Set("name", js(env, gpu.name));
  object.Set("vendor", js(env, gpu.vendor));
  object.Set("loadPercent", js(env, gpu.loadPercent));
  object.Set("temperatureCelsius", js(env, gpu.temperatureCelsius));
  object.Set("memoryUsedBytes", js(env, gpu.memoryUsedBytes));
  object.Set("memoryTotalBytes", js(env, gpu.memoryTotalBytes));
  object.Set("powerWatts", js(env, gpu.powerWatts));
  object.Set("fanPercent", js(env, gpu.fanPercent));
  object.Set("clockMhz", js(env, gpu.clockMhz));
  object.Set("isAsleep", js(env, gpu.isAsleep));
  return object;
}

template <class T>
static Napi::Value toArray(Napi::Env env, const std::vector<T>& values, bool withDetail) {
  auto array = Napi::Array::New(env, values.size());
  for (std::uint32_t i = 0; i < values.size(); ++i) array.Set(i, toObject(env, values[i], withDetail));
  return array;
}

static Napi::Value js(Napi::Env env, const DefaultRouteInfo& info) {
  auto object = Napi::Object::New(env);
  object.Set("name", js(env, info.name));
  object.Set("mac", js(env, info.mac));
  object.Set("ipv4", js(env, info.ipv4));
  object.Set("ipv6", js(env, info.ipv6));
  return object;
}

Napi::Value toJs(Napi::Env env, const CpuCounters& counters, bool withDetail) {
  auto object =
      makeObject(env, kCpuShape,
                 {js(env, counters.total), js(env, counters.temperatureCelsius), js(env, counters.speedHz)});
  if (!withDetail) return object;
  object.Set("cores", js(env, counters.cores));
  object.Set("coreSpeedsHz", js(env, counters.coreSpeedsHz));
  object.Set("pressure", js(env, counters.pressure));
  object.Set("energy", toJs(env, counters.energy));
  if (!counters.loadAverage) {
    object.Set("loadAverage", env.Null());
    return object;
  }
  auto averages = Napi::Array::New(env, counters.loadAverage->size());
  for (std::uint32_t i = 0; i < counters.loadAverage->size(); ++i)
    averages.Set(i, js(env, (*counters.loadAverage)[i]));
  object.Set("loadAverage", averages);
  return object;
}

Napi::Value toJs(Napi::Env env, const MemoryCounters& counters, bool withDetail) {
  auto object =
      makeObject(env, kMemoryShape, {js(env, counters.totalBytes), js(env, counters.availableBytes)});
  if (!withDetail) return object;
  object.Set("cachedBytes", js(env, counters.cachedBytes));
  object.Set("buffersBytes", js(env, counters.buffersBytes));
  object.Set("swapTotalBytes", js(env, counters.swapTotalBytes));
  object.Set("swapFreeBytes", js(env, counters.swapFreeBytes));
  object.Set("pressure", js(env, counters.pressure));
  return object;
}

Napi::Value toJs(Napi::Env env, const std::vector<DiskCounters>& counters, bool withDetail) {
  return toArray(env, counters, withDetail);
}

Napi::Value toJs(Napi::Env env, const std::vector<InterfaceCounters>& counters, bool withDetail) {
  return toArray(env, counters, withDetail);
}

Napi::Value toJs(Napi::Env env, const std::vector<GpuCounters>& counters, bool withDetail) {
  return toArray(env, counters, withDetail);
}

Napi::Value toJs(Napi::Env env, const SystemInfo& info) {
  auto os = Napi::Object::New(env);
  os.Set("name", js(env, info.os.name));
  os.Set("version", js(env, info.os.version));
  os.Set("build", js(env, info.os.build));
  os.Set("arch", js(env, info.os.arch));
  auto cpu = Napi::Object::New(env);
  cpu.Set("manufacturer", js(env, info.cpu.manufacturer));
  cpu.Set("brand", js(env, info.cpu.brand));
  cpu.Set("cores", js(env, info.cpu.cores));
  cpu.Set("physicalCores", js(env, info.cpu.physicalCores));
  cpu.Set("baseSpeedHz", js(env, info.cpu.baseSpeedHz));
  auto object = Napi::Object::New(env);
  object.Set("hostname", js(env, info.hostname));
  object.Set("os", os);
  object.Set("cpu", cpu);
  object.Set("memoryTotalBytes", js(env, info.memoryTotalBytes));
  object.Set("memorySlots", js(env, info.memorySlots));
  object.Set("network", js(env, info.network));
  return object;
}

Napi::Value toJs(Napi::Env env, const ClockReading& clock, const SectionValues& sections) {
  return makeObject(
      env, kCountersShape,
      {js(env, clock.monotonicNs), js(env, clock.sinceBootNs), js(env, clock.unixMs), sections.cpu,
       sections.memory, sections.gpus, sections.disks, sections.interfaces, sections.failures});
}

}  // namespace hostwire
