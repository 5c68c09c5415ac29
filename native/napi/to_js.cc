// Structs to JavaScript objects.
#include "napi/to_js.h"

#include <optional>
#include <string>

#include "napi/shape.h"

namespace hostwire {
namespace {

// What the default view needs of every reading, and below it what a reading with detail has in its place.
constexpr Shape kCpuTimesShape{0, "user, nice, system, idle, iowait, irq, steal"};
constexpr Shape kCpuShape{1, "total, temperatureCelsius, speedHz"};
constexpr Shape kMemoryShape{2, "totalBytes, availableBytes"};
constexpr Shape kDiskUsageShape{3, "totalBytes, freeBytes, availableBytes"};
constexpr Shape kDiskShape{4, "mountPoint, usage"};
constexpr Shape kInterfaceShape{5, "name, index, kind, hasDevice, isMember, receivedBytes, sentBytes"};
constexpr Shape kCountersShape{
    6, "takenAtNs, sinceBootNs, unixMs, cpu, memory, gpus, disks, interfaces, failures"};

constexpr Shape kCoreShape{7, "user, nice, system, idle, iowait, irq, steal, index"};
constexpr Shape kCpuDetailShape{
    8, "total, temperatureCelsius, speedHz, cores, coreSpeedsHz, pressure, energy, loadAverage"};
constexpr Shape kPressureShape{9, "some, full"};
constexpr Shape kMemoryDetailShape{
    10, "totalBytes, availableBytes, cachedBytes, buffersBytes, swapTotalBytes, swapFreeBytes, pressure"};
constexpr Shape kDiskIoShape{11, "readBytes, writeBytes, busyMs"};
constexpr Shape kDiskDetailShape{
    12, "mountPoint, usage, device, type, label, isReadOnly, isRemovable, isStale, io"};
constexpr Shape kInterfaceDetailShape{
    13,
    "name, index, kind, hasDevice, isMember, receivedBytes, sentBytes, receivedPackets, sentPackets, "
    "receiveErrors, sendErrors, receiveDrops, sendDrops, isUp, speedMbps, mac, addresses, signalDbm"};
constexpr Shape kCountersDetailShape{
    14, "takenAtNs, sinceBootNs, unixMs, cpu, memory, gpus, disks, interfaces, failures, sensors, batteries"};

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
  return makeObject(env, kPressureShape, {js(env, pressure.some), js(env, pressure.full)});
}

template <class List>
requires requires(const List& list) {
  list[0];
  list.size();
}
static Napi::Value js(Napi::Env env, const List& values);

template <class T>
static Napi::Value js(Napi::Env env, const std::optional<T>& value) {
  return value ? js(env, *value) : env.Null();
}

template <class List>
requires requires(const List& list) {
  list[0];
  list.size();
}
static Napi::Value js(Napi::Env env, const List& values) {
  return makeArray(env, values, [&](const auto& value) { return js(env, value); });
}

static Napi::Object js(Napi::Env env, const CpuTimes& times) {
  return makeObject(env, kCpuTimesShape,
                    {js(env, times.user), js(env, times.nice), js(env, times.system), js(env, times.idle),
                     js(env, times.iowait), js(env, times.irq), js(env, times.steal)});
}

static Napi::Value js(Napi::Env env, const CoreTimes& core) {
  const CpuTimes& times = core.times;
  return makeObject(env, kCoreShape,
                    {js(env, times.user), js(env, times.nice), js(env, times.system), js(env, times.idle),
                     js(env, times.iowait), js(env, times.irq), js(env, times.steal), js(env, core.index)});
}

static Napi::Value js(Napi::Env env, const DiskUsage& usage) {
  return makeObject(env, kDiskUsageShape,
                    {js(env, usage.totalBytes), js(env, usage.freeBytes), js(env, usage.availableBytes)});
}

static Napi::Value js(Napi::Env env, const DiskIo& io) {
  return makeObject(env, kDiskIoShape, {js(env, io.readBytes), js(env, io.writeBytes), js(env, io.busyMs)});
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
  if (!withDetail) return makeObject(env, kDiskShape, {js(env, disk.mountPoint), js(env, disk.usage)});
  return makeObject(env, kDiskDetailShape,
                    {js(env, disk.mountPoint), js(env, disk.usage), js(env, disk.device), js(env, disk.type),
                     js(env, disk.label), js(env, disk.isReadOnly), js(env, disk.isRemovable),
                     js(env, disk.isStale), js(env, disk.io)});
}

static Napi::Value toObject(Napi::Env env, const InterfaceCounters& link, bool withDetail) {
  const auto kind = Napi::String::New(env, nameOf(link.kind));
  if (!withDetail)
    return makeObject(env, kInterfaceShape,
                      {js(env, link.name), js(env, link.index), kind, js(env, link.hasDevice),
                       js(env, link.isMember), js(env, link.receivedBytes), js(env, link.sentBytes)});
  return makeObject(
      env, kInterfaceDetailShape,
      {js(env, link.name), js(env, link.index), kind, js(env, link.hasDevice), js(env, link.isMember),
       js(env, link.receivedBytes), js(env, link.sentBytes), js(env, link.receivedPackets),
       js(env, link.sentPackets), js(env, link.receiveErrors), js(env, link.sendErrors),
       js(env, link.receiveDrops), js(env, link.sendDrops), js(env, link.isUp), js(env, link.speedMbps),
       js(env, link.mac), js(env, link.addresses), js(env, link.signalDbm)});
}

template <class T>
static Napi::Value toArray(Napi::Env env, const std::vector<T>& values, bool withDetail) {
  return makeArray(env, values, [&](const T& value) { return toObject(env, value, withDetail); });
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
  const Napi::Value total = js(env, counters.total);
  const Napi::Value temperature = js(env, counters.temperatureCelsius);
  const Napi::Value speed = js(env, counters.speedHz);
  if (!withDetail) return makeObject(env, kCpuShape, {total, temperature, speed});
  return makeObject(env, kCpuDetailShape,
                    {total, temperature, speed, js(env, counters.cores), js(env, counters.coreSpeedsHz),
                     js(env, counters.pressure), toJs(env, counters.energy), js(env, counters.loadAverage)});
}

Napi::Value toJs(Napi::Env env, const MemoryCounters& counters, bool withDetail) {
  const Napi::Value total = js(env, counters.totalBytes);
  const Napi::Value available = js(env, counters.availableBytes);
  if (!withDetail) return makeObject(env, kMemoryShape, {total, available});
  return makeObject(
      env, kMemoryDetailShape,
      {total, available, js(env, counters.cachedBytes), js(env, counters.buffersBytes),
       js(env, counters.swapTotalBytes), js(env, counters.swapFreeBytes), js(env, counters.pressure)});
}

Napi::Value toJs(Napi::Env env, const std::vector<DiskCounters>& counters, bool withDetail) {
  return toArray(env, counters, withDetail);
}

Napi::Value toJs(Napi::Env env, const std::vector<InterfaceCounters>& counters, bool withDetail) {
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
  const Napi::Value takenAt = js(env, clock.monotonicNs);
  const Napi::Value sinceBoot = js(env, clock.sinceBootNs);
  const Napi::Value unixTime = js(env, clock.unixMs);
  if (sections.sensors.IsUndefined())
    return makeObject(env, kCountersShape,
                      {takenAt, sinceBoot, unixTime, sections.cpu, sections.memory, sections.gpus,
                       sections.disks, sections.interfaces, sections.failures});
  return makeObject(
      env, kCountersDetailShape,
      {takenAt, sinceBoot, unixTime, sections.cpu, sections.memory, sections.gpus, sections.disks,
       sections.interfaces, sections.failures, sections.sensors, sections.batteries});
}

}  // namespace hostwire
