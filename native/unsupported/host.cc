// Every capability reports "not supported": where a port starts, function by function.
#include <chrono>

#include "host/batteries.h"
#include "host/clock.h"
#include "host/connections.h"
#include "host/cpu.h"
#include "host/disks.h"
#include "host/drive_probe.h"
#include "host/error.h"
#include "host/folders.h"
#include "host/gpu.h"
#include "host/library.h"
#include "host/limits.h"
#include "host/listener.h"
#include "host/memory.h"
#include "host/metrics.h"
#include "host/network.h"
#include "host/output.h"
#include "host/paused_polls.h"
#include "host/port_holder.h"
#include "host/process.h"
#include "host/resource_limits.h"
#include "host/sensors.h"
#include "host/streams.h"
#include "host/system.h"
#include "host/uptime.h"
#include "host/wake.h"

namespace hostwire {
namespace {

[[noreturn]] void refuse(const char* operation) { throw HostError(std::errc::not_supported, operation); }

Findings unknown(const char* subject) {
  return {Finding::missing(subject, "none", {"not known on this platform", ""})};
}

}  // namespace

ClockReading readClock() {
  using std::chrono::duration_cast;
  const auto steady = std::chrono::steady_clock::now().time_since_epoch();
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  const auto steadyNs = duration_cast<std::chrono::nanoseconds>(steady).count();
  return {steadyNs, steadyNs, duration_cast<std::chrono::milliseconds>(wall).count()};
}

struct UptimeReader::State {};
UptimeReader::UptimeReader(const Roots&) {}
UptimeReader::~UptimeReader() = default;
std::optional<std::int64_t> UptimeReader::readNs(std::int64_t) { return std::nullopt; }

struct CpuReader::State {};
CpuReader::CpuReader(const Roots&, ProberPool&) {}
CpuReader::~CpuReader() = default;
CpuCounters CpuReader::read(bool) { refuse("read cpu"); }
Findings CpuReader::describe() { return unknown("cpu"); }

struct MemoryReader::State {};
MemoryReader::MemoryReader(const Roots&) {}
MemoryReader::~MemoryReader() = default;
MemoryCounters MemoryReader::read(bool) { refuse("read memory"); }
Findings MemoryReader::describe() { return unknown("memory"); }

struct MetricsReader::State {};
MetricsReader::MetricsReader(const Roots&) {}
MetricsReader::~MetricsReader() = default;
std::string MetricsReader::read() { refuse("read metrics"); }

struct DisksReader::State {};
DisksReader::DisksReader(const Roots&, ProberPool&) {}
DisksReader::~DisksReader() = default;
std::vector<DiskCounters> DisksReader::read(bool) { refuse("read disks"); }
Findings DisksReader::describe() { return unknown("disks"); }

struct NetworkReader::State {};
NetworkReader::NetworkReader(const Roots&, ProberPool&) {}
NetworkReader::~NetworkReader() = default;
const NetworkReading& NetworkReader::read(bool) { refuse("read network"); }
Findings NetworkReader::describe() { return unknown("network"); }

struct GpuReader::State {
  std::string failure;
};
GpuReader::GpuReader(const Roots&, const GpuOptions&, ProberPool&) : state_(std::make_unique<State>()) {}
GpuReader::~GpuReader() = default;
std::vector<GpuCounters> GpuReader::read(bool) { return {}; }
const std::string& GpuReader::failure() const { return state_->failure; }
Findings GpuReader::describe() { return unknown("gpu"); }

Library::Library(const std::string& path) { refuse(("open " + path).c_str()); }
Library::~Library() = default;
void* Library::find(const char*) const { return handle_; }

struct SensorsReader::State {};
SensorsReader::SensorsReader(const Roots&, ProberPool&) {}
SensorsReader::~SensorsReader() = default;
std::vector<SensorCounters> SensorsReader::read() { refuse("read sensors"); }
Findings SensorsReader::describe() { return unknown("sensors"); }

struct BatteriesReader::State {};
BatteriesReader::BatteriesReader(const Roots&, ProberPool&) {}
BatteriesReader::~BatteriesReader() = default;
std::vector<BatteryCounters> BatteriesReader::read() { refuse("read batteries"); }
Findings BatteriesReader::describe() { return unknown("batteries"); }

std::vector<FoundDrive> findDrives(const Roots&) { refuse("read drives"); }
std::function<DriveAnswer()> makeDriveQuestion(const FoundDrive&) {
  return [] { return DriveAnswer{}; };
}

struct LimitsReader::State {};
LimitsReader::LimitsReader(const Roots&, ProberPool&) {}
LimitsReader::~LimitsReader() = default;
std::optional<LimitCounters> LimitsReader::read() { refuse("read limits"); }
Findings LimitsReader::describe() { return unknown("resource-limits"); }

SystemInfo readSystem(const Roots&) { refuse("read system"); }

struct ProcessReader::State {};
ProcessReader::ProcessReader(const Roots&) : state_(std::make_shared<State>()) {}
ProcessReader::~ProcessReader() = default;
std::shared_ptr<const ProcessReading> ProcessReader::latest() { return nullptr; }
void ProcessReader::ask(std::chrono::milliseconds) {}
void ProcessReader::includeDisks() {}
ProcessReading ProcessReader::read(State&, bool) { refuse("read processes"); }
Findings ProcessReader::describe(State&) {
  return {unknown("processes").front(), Finding::possible("process-control", whyNoProcessControl({}))};
}
std::optional<ProcessDetails> ProcessReader::readDetails(State&, std::int32_t) { refuse("read a process"); }
std::vector<std::optional<std::string>> ProcessReader::readPaths(State&, std::span<const ProcessId>) {
  refuse("read processes");
}
std::optional<Obstacle> whyNoProcessControl(const Roots&) {
  return Obstacle{"not known on this platform", ""};
}
SignalOutcome signalProcess(const ProcessId&, EndSignal) { refuse("signal a process"); }
std::vector<bool> waitForEnd(std::span<const ProcessId>, std::chrono::milliseconds) {
  refuse("wait for a process");
}
std::int32_t launchProcess(const LaunchOptions&) { refuse("launch a process"); }

int tuneListener(std::uint16_t, const ListenerOptions&) { return 0; }

void tuneHeap() {}
void trimHeap() {}

std::optional<std::string> machineDataFolder() { return std::nullopt; }

std::optional<PortHolder> findPortHolder(std::uint16_t) { return std::nullopt; }

std::size_t writeAtOnce(int, std::string_view) { refuse("write"); }
void ignoreStraySignals() {}
void endWithParent() {}
void releaseClosedTerminal() {}

std::optional<std::uint64_t> descriptorLimit() { return std::nullopt; }

std::optional<std::uint64_t> openDescriptors() { return std::nullopt; }

Findings describeLibraries() { return {}; }

std::vector<BroadcastAddress> readBroadcastAddresses() { refuse("list the network interfaces"); }
std::vector<WakeOnLan> readWakeOnLan(const Roots&) { refuse("read Wake-on-LAN"); }

std::vector<ClientConnections> readConnections(std::uint16_t) { refuse("count connections"); }

std::unique_ptr<PausedPolls> watchPolls(void*) { refuse("look at the handles of the event loop"); }
bool hasUnacknowledged(int) { return false; }
bool canOwnStreams() { return false; }
std::unique_ptr<StreamWriter> makeStreamWriter(const StreamOptions&, std::function<void()>) {
  refuse("own streams");
}
SendMethod findSendMethod() { return SendMethod::kSend; }
Finding describeStreams() { return Finding::works("streams", "Node's sockets"); }

}  // namespace hostwire
