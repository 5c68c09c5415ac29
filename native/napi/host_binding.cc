// The JavaScript class `Host`.
#include "napi/host_binding.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "host/clock.h"
#include "host/library.h"
#include "host/peers.h"
#include "host/streams.h"
#include "host/system.h"
#include "host/wake.h"
#include "napi/finding_js.h"
#include "napi/js.h"

namespace hostwire {

static Napi::Value js(Napi::Env env, const OsInfo& os) {
  static const Shape shape{Key{"name", &OsInfo::name}, Key{"version", &OsInfo::version},
                           Key{"build", &OsInfo::build}, Key{"arch", &OsInfo::arch}};
  return shape.make(env, os);
}

static Napi::Value js(Napi::Env env, const CpuInfo& cpu) {
  static const Shape shape{Key{"manufacturer", &CpuInfo::manufacturer}, Key{"brand", &CpuInfo::brand},
                           Key{"cores", &CpuInfo::cores}, Key{"physicalCores", &CpuInfo::physicalCores},
                           Key{"baseSpeedHz", &CpuInfo::baseSpeedHz}};
  return shape.make(env, cpu);
}

static Napi::Value js(Napi::Env env, const DefaultRouteInfo& route) {
  static const Shape shape{Key{"name", &DefaultRouteInfo::name}, Key{"mac", &DefaultRouteInfo::mac},
                           Key{"ipv4", &DefaultRouteInfo::ipv4}, Key{"ipv6", &DefaultRouteInfo::ipv6}};
  return shape.make(env, route);
}

static Napi::Value js(Napi::Env env, const SystemInfo& system) {
  static const Shape shape{Key{"hostname", &SystemInfo::hostname},
                           Key{"os", &SystemInfo::os},
                           Key{"cpu", &SystemInfo::cpu},
                           Key{"memoryTotalBytes", &SystemInfo::memoryTotalBytes},
                           Key{"memorySlots", &SystemInfo::memorySlots},
                           Key{"model", &SystemInfo::model},
                           Key{"network", &SystemInfo::network}};
  return shape.make(env, system);
}

static Napi::Value js(Napi::Env env, const BroadcastAddress& address) {
  static const Shape shape{Key{"name", &BroadcastAddress::name}, Key{"address", &BroadcastAddress::address},
                           Key{"broadcast", &BroadcastAddress::broadcast}};
  return shape.make(env, address);
}

static Napi::Value js(Napi::Env env, const WakeOnLan& card) {
  static const Shape shape{Key{"name", &WakeOnLan::name}, Key{"isEnabled", &WakeOnLan::isEnabled},
                           Key{"supported", &WakeOnLan::supported}, Key{"armed", &WakeOnLan::armed},
                           Key{"failure", &WakeOnLan::failure}};
  return shape.make(env, card);
}

namespace {

// Time before the next reading at which probers ask, so that their answers are fresh then.
constexpr std::chrono::milliseconds kProbeLead{100};

void setRoot(const Napi::Object& options, const char* key, std::string& root) {
  const Napi::Value value = options.Get(key);
  if (value.IsString()) root = value.As<Napi::String>().Utf8Value();
}

void setMilliseconds(const Napi::Object& options, const char* key, std::chrono::milliseconds& time) {
  const Napi::Value value = options.Get(key);
  if (value.IsNumber()) time = std::chrono::milliseconds(value.As<Napi::Number>().Int64Value());
}

// Returns the keys of Counters (src/host/host.ts) in the order of the values.
std::string keysOf(const std::vector<Section>& sections, const std::vector<Detail>& details) {
  std::string keys = "takenAtNs, sinceBootNs, unixMs, uptimeNs";
  for (const Section& section : sections) {
    keys.append(", ").append(section.key);
    if (section.takenAtNs) keys.append(", ").append(section.key).append("TakenAtNs");
  }
  for (const Detail& detail : details) keys.append(", ").append(detail.key);
  return keys + ", awaitsAnswers, failures";
}

// Reasons why sections and details are null or incomplete, by key; undefined while none is.
class Failures {
 public:
  explicit Failures(Napi::Env env) : env_(env), reasons_(env.Undefined()) {}

  void add(const char* key, const std::string& reason) {
    if (reasons_.IsUndefined()) reasons_ = Napi::Object::New(env_);
    reasons_.As<Napi::Object>().Set(key, reason);
  }
  // Returns the result of `read`; null, and notes the reason, when it throws.
  template <class Read>
  Napi::Value valueOf(const char* key, const Read& read) {
    try {
      return read();
    } catch (const Napi::Error&) {
      throw;
    } catch (const std::exception& error) {
      add(key, error.what());
      return env_.Null();
    }
  }
  Napi::Value reasons() const { return reasons_; }

 private:
  Napi::Env env_;
  Napi::Value reasons_;
};

}  // namespace

Napi::Function HostBinding::define(Napi::Env env, const std::shared_ptr<Completions>& completions) {
  return DefineClass(env, "Host",
                     {InstanceMethod<&HostBinding::readCounters>("readCounters"),
                      InstanceMethod<&HostBinding::describe>("describe"),
                      InstanceMethod<&HostBinding::readSystem>("readSystem"),
                      InstanceMethod<&HostBinding::readBroadcastAddresses>("readBroadcastAddresses"),
                      InstanceMethod<&HostBinding::readWakeOnLan>("readWakeOnLan"),
                      InstanceMethod<&HostBinding::readMetrics>("readMetrics")},
                     completions.get());
}

HostBinding::HostBinding(const Napi::CallbackInfo& info)
    : Napi::ObjectWrap<HostBinding>(info),
      completions_(static_cast<Completions*>(info.Data())->shared_from_this()) {
  GpuOptions gpuOptions;
  if (info[0].IsObject()) {
    const auto options = info[0].As<Napi::Object>();
    setRoot(options, "proc", roots_.proc);
    setRoot(options, "sys", roots_.sys);
    setRoot(options, "files", roots_.files);
    setRoot(options, "nvml", gpuOptions.nvmlLibrary);
    setMilliseconds(options, "gpuRetryMs", gpuOptions.retryDelay);
    setMilliseconds(options, "gpuDiscoveryMs", gpuOptions.discoveryInterval);
    setMilliseconds(options, "gpuMaxAgeMs", gpuOptions.maxAge);
    setMilliseconds(options, "gpuIdleMs", gpuOptions.idleBeforeRest);
  }
  uptime_.emplace(roots_);
  sections_ = openSections(roots_, gpuOptions, probers_);
  details_ = openDetails(roots_, probers_);
}

Napi::Value HostBinding::readCounters(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const std::uint32_t wanted = info[0].ToNumber().Uint32Value();
  const bool withDetail = info[1].ToBoolean().Value();
  const std::chrono::milliseconds nextIn{std::max<std::int64_t>(0, info[2].ToNumber().Int64Value())};
  const std::uint32_t wantedDetails = info[3].IsUndefined() ? ~0U : info[3].ToNumber().Uint32Value();

  // Read first: an answer that arrives during the reading may or may not be in it.
  const bool awaitedAnswers = probers_.awaitsFirstAnswers();
  const ClockReading clock = readClock();
  Failures failures(env);
  std::vector<napi_value> values;
  values.reserve(sections_.size() + details_.size() + 7);
  for (const std::int64_t time : {clock.monotonicNs, clock.sinceBootNs, clock.unixMs})
    values.push_back(js(env, time));
  const auto uptimeNs = uptime_->readNs(clock.sinceBootNs);
  values.push_back(uptimeNs ? js(env, *uptimeNs) : env.Undefined());
  for (std::size_t at = 0; at < sections_.size(); ++at) {
    const Section& section = sections_[at];
    const bool isWanted = (wanted & (1U << at)) != 0;
    values.push_back(isWanted ? failures.valueOf(section.key, [&] { return section.read(env, withDetail); })
                              : env.Undefined());
    if (section.takenAtNs) {
      const bool isRead = isWanted && !Napi::Value(env, values.back()).IsNull();
      values.push_back(isRead ? js(env, section.takenAtNs()) : env.Undefined());
    }
    if (!isWanted || !section.failure) continue;
    if (const std::string& reason = section.failure(); !reason.empty()) failures.add(section.key, reason);
  }
  for (std::size_t at = 0; withDetail && at < details_.size(); ++at) {
    const Detail& detail = details_[at];
    const bool isWanted = (wantedDetails & (1U << at)) != 0;
    values.push_back(isWanted ? failures.valueOf(detail.key, [&] { return detail.read(env); })
                              : env.Undefined());
  }
  const bool awaitsAnswers = awaitedAnswers || probers_.awaitsFirstAnswers();
  values.push_back(awaitsAnswers ? js(env, true) : env.Undefined());
  values.push_back(failures.reasons());

  // Every Host has the same tables.
  static const Literal plain(keysOf(sections_, {}));
  static const Literal detailed(keysOf(sections_, details_));
  const Napi::Value counters = (withDetail ? detailed : plain).make(env, values);
  probers_.askAll(std::max(std::chrono::milliseconds{0}, nextIn - kProbeLead));
  return counters;
}

Napi::Value HostBinding::describe(const Napi::CallbackInfo& info) {
  Findings findings = describeLibraries();
  findings.push_back(describePeers());
  findings.push_back(describeStreams());
  const auto add = [&findings](const auto& rows) {
    for (const auto& row : rows)
      for (Finding& finding : row.describe()) findings.push_back(std::move(finding));
  };
  add(sections_);
  add(details_);
  probers_.askAll(std::chrono::milliseconds{0});
  const bool isPending =
      std::any_of(findings.begin(), findings.end(), [](const Finding& finding) { return finding.isPending; });
  static const Literal shape("findings, isPending");
  const std::array<napi_value, 2> values{js(info.Env(), findings), js(info.Env(), isPending)};
  return shape.make(info.Env(), values);
}

Napi::Value HostBinding::readSystem(const Napi::CallbackInfo& info) {
  return startDetached<SystemInfo>(
      info.Env(), completions_, [roots = roots_] { return hostwire::readSystem(roots); },
      [](Napi::Env env, const SystemInfo& system) { return js(env, system); });
}

Napi::Value HostBinding::readBroadcastAddresses(const Napi::CallbackInfo& info) {
  using Addresses = std::vector<BroadcastAddress>;
  return startDetached<Addresses>(
      info.Env(), completions_, [] { return hostwire::readBroadcastAddresses(); },
      [](Napi::Env env, const Addresses& addresses) { return js(env, addresses); });
}

Napi::Value HostBinding::readWakeOnLan(const Napi::CallbackInfo& info) {
  using Cards = std::vector<WakeOnLan>;
  return startDetached<Cards>(
      info.Env(), completions_, [roots = roots_] { return hostwire::readWakeOnLan(roots); },
      [](Napi::Env env, const Cards& cards) { return js(env, cards); });
}

Napi::Value HostBinding::readMetrics(const Napi::CallbackInfo& info) {
  if (!metrics_) metrics_ = std::make_shared<MetricsReader>(roots_);
  return startDetached<std::string>(
      info.Env(), completions_, [reader = metrics_] { return reader->read(); },
      [](Napi::Env env, const std::string& text) {
        return Napi::Buffer<char>::Copy(env, text.data(), text.size());
      });
}

}  // namespace hostwire
