// The JavaScript class `Host`: one machine seen through one set of roots.
#include <napi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/clock.h"
#include "host/library.h"
#include "host/metrics.h"
#include "host/prober.h"
#include "host/roots.h"
#include "host/streams.h"
#include "host/system.h"
#include "host/uptime.h"
#include "host/wake.h"
#include "napi/detached_work.h"
#include "napi/details.h"
#include "napi/exports.h"
#include "napi/finding_js.h"
#include "napi/from_js.h"
#include "napi/js.h"
#include "napi/sections.h"

namespace hostwire {

HOSTWIRE_JS(OsInfo, KEY(name), KEY(version), KEY(build), KEY(arch))

HOSTWIRE_JS(CpuInfo, KEY(manufacturer), KEY(brand), KEY(cores), KEY(physicalCores), KEY(baseSpeedHz))

HOSTWIRE_JS(DefaultRouteInfo, KEY(name), KEY(mac), KEY(ipv4), KEY(ipv6))

HOSTWIRE_JS(SystemInfo, KEY(hostname), KEY(os), KEY(cpu), KEY(memoryTotalBytes), KEY(memorySlots),
            KEY(network), KEY(model))

HOSTWIRE_JS(BroadcastAddress, KEY(name), KEY(address), KEY(broadcast))

HOSTWIRE_JS(WakeOnLan, KEY(name), KEY(isEnabled), KEY(supported), KEY(armed), KEY(failure))

namespace {

// Time before the next reading at which probers ask, so that their answers are fresh then.
constexpr std::chrono::milliseconds kProbeLead{100};

// Returns the keys of Counters (src/host/host.ts) in the order of the values.
std::string keysOf(const std::vector<Section>& sections, const std::vector<Detail>& details) {
  std::string keys = "takenAtNs, sinceBootNs, unixMs, uptimeNs, clockErrorSeconds";
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

class HostBinding : public Napi::ObjectWrap<HostBinding> {
 public:
  static Napi::Function define(Napi::Env env, const char* name, void* completions) {
    using Self = HostBinding;
    return DefineClass(
        env, name,
        {InstanceMethod<&Self::readCounters>("readCounters"), InstanceMethod<&Self::describe>("describe"),
         InstanceMethod<&Self::readSystem>("readSystem"),
         InstanceMethod<&Self::readBroadcastAddresses>("readBroadcastAddresses"),
         InstanceMethod<&Self::readWakeOnLan>("readWakeOnLan"),
         InstanceMethod<&Self::readMetrics>("readMetrics")},
        completions);
  }
  // new Host({proc?, sys?, files?, nvml?, gpuRetryMs?, gpuDiscoveryMs?, gpuMaxAgeMs?, gpuIdleMs?})
  explicit HostBinding(const Napi::CallbackInfo& info)
      : Napi::ObjectWrap<HostBinding>(info),
        roots_(rootsOf(info[0])),
        uptime_(roots_),
        completions_(Exports::completionsOf(info)) {
    GpuOptions gpu;
    if (info[0].IsObject()) {
      const auto options = info[0].As<Napi::Object>();
      setText(options, "nvml", gpu.nvmlLibrary);
      setTime(options, "gpuRetryMs", gpu.retryDelay);
      setTime(options, "gpuDiscoveryMs", gpu.discoveryInterval);
      setTime(options, "gpuMaxAgeMs", gpu.maxAge);
      setTime(options, "gpuIdleMs", gpu.idleBeforeRest);
    }
    sections_ = openSections(roots_, gpu, probers_);
    details_ = openDetails(roots_, probers_);
  }

 private:
  // readCounters(sections: number, withDetail: boolean, nextInMs: number, details?: number): Counters
  Napi::Value readCounters(const Napi::CallbackInfo& info) {
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
    values.reserve(sections_.size() + details_.size() + 8);
    for (const std::int64_t time : {clock.monotonicNs, clock.sinceBootNs, clock.unixMs})
      values.push_back(js(env, time));
    const auto uptimeNs = uptime_.readNs(clock.sinceBootNs);
    values.push_back(uptimeNs ? js(env, *uptimeNs) : env.Undefined());
    values.push_back(js(env, clock.errorSeconds));
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
  // describe(): {findings: Finding[], isPending: boolean}. Takes a reading with detail; values from probers
  // are missing in the first one. isPending: a device has yet to answer, and may answer within seconds.
  Napi::Value describe(const Napi::CallbackInfo& info) {
    Findings findings = describeLibraries();
    findings.push_back(describeStreams());
    const auto add = [&findings](const auto& rows) {
      for (const auto& row : rows)
        for (Finding& finding : row.describe()) findings.push_back(std::move(finding));
    };
    add(sections_);
    add(details_);
    probers_.askAll(std::chrono::milliseconds{0});
    const bool isPending = std::any_of(findings.begin(), findings.end(),
                                       [](const Finding& finding) { return finding.isPending; });
    static const Literal shape("findings, isPending");
    const std::array<napi_value, 2> values{js(info.Env(), findings), js(info.Env(), isPending)};
    return shape.make(info.Env(), values);
  }
  // readSystem(): Promise<SystemInfo>
  Napi::Value readSystem(const Napi::CallbackInfo& info) {
    return startDetached(info.Env(), completions_, [roots = roots_] { return hostwire::readSystem(roots); });
  }
  // readBroadcastAddresses(): Promise<BroadcastAddress[]>
  Napi::Value readBroadcastAddresses(const Napi::CallbackInfo& info) {
    return startDetached(info.Env(), completions_, hostwire::readBroadcastAddresses);
  }
  // readWakeOnLan(): Promise<WakeOnLan[]>
  Napi::Value readWakeOnLan(const Napi::CallbackInfo& info) {
    return startDetached(info.Env(), completions_,
                         [roots = roots_] { return hostwire::readWakeOnLan(roots); });
  }
  // readMetrics(): Promise<Buffer>
  Napi::Value readMetrics(const Napi::CallbackInfo& info) {
    if (!metrics_) metrics_ = std::make_shared<MetricsReader>(roots_);
    return startDetached(
        info.Env(), completions_, [reader = metrics_] { return reader->read(); }, bytesToJs);
  }

  const Roots roots_;
  // The readers share it, so they are destroyed first.
  ProberPool probers_;
  UptimeReader uptime_;
  std::vector<Section> sections_;
  std::vector<Detail> details_;
  // Created by the first request for metrics; shared with the thread that reads them.
  std::shared_ptr<MetricsReader> metrics_;
  std::shared_ptr<Completions> completions_;
};

}  // namespace

void exportHost(const Exports& exports) { exports.addClass<HostBinding>("Host"); }

}  // namespace hostwire
