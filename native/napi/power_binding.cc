// The JavaScript class `Power`: the machine's power manager; the keys mirror src/host/power.ts.
#include <napi.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "host/power.h"
#include "napi/controls_binding.h"
#include "napi/exports.h"
#include "napi/finding_js.h"
#include "napi/js.h"

namespace hostwire {

HOSTWIRE_JS(PowerSupport, KEY(isSupported), key<Self, &Self::reason, orNull>("reason"))

HOSTWIRE_JS(PowerInhibitor, KEY(who), KEY(why), KEY(what), KEY(uid))

namespace {

PowerAction actionOf(const Napi::Value& value) {
  const std::string name = value.IsString() ? value.As<Napi::String>().Utf8Value() : "";
  for (const auto& [known, action] : kPowerActionNames)
    if (known == name) return action;
  throw Napi::TypeError::New(value.Env(), "unknown power action " + name);
}

std::optional<std::string_view> nameOf(std::optional<PowerAction> plan) {
  for (const auto& [name, action] : kPowerActionNames)
    if (plan == action) return name;
  return std::nullopt;
}

class PowerBinding : public Napi::ObjectWrap<PowerBinding> {
 public:
  static Napi::Function define(Napi::Env env, const char* name, void*) {
    return DefineClass(
        env, name,
        {InstanceMethod<&PowerBinding::support>("support"), InstanceMethod<&PowerBinding::act>("act"),
         InstanceMethod<&PowerBinding::inhibitors>("inhibitors"),
         InstanceMethod<&PowerBinding::delaySleep>("delaySleep"),
         InstanceMethod<&PowerBinding::allowSleep>("allowSleep"),
         InstanceMethod<&PowerBinding::describe>("describe")});
  }
  // new Power(controls, onPlan: (plan: string | null) => void)
  explicit PowerBinding(const Napi::CallbackInfo& info)
      : Napi::ObjectWrap<PowerBinding>(info),
        controls_(controlsOf(info[0])),
        power_(controls_->thread, [onPlan = Listener(info[1], "onPlan", controls_)](
                                      std::optional<PowerAction> plan) { onPlan(nameOf(plan)); }) {}

 private:
  // support(action: string): Promise<{isSupported, reason: string | null}>
  Napi::Value support(const Napi::CallbackInfo& info) {
    const PowerAction action = actionOf(info[0]);
    const auto open = OpenPromise::start(info.Env(), controls_);
    power_.support(action, [open](const PowerSupport& support) { open->resolve(support); });
    return open->promise();
  }
  // act(action: string): Promise<void>; rejects with the reason
  Napi::Value act(const Napi::CallbackInfo& info) {
    const PowerAction action = actionOf(info[0]);
    const auto open = OpenPromise::start(info.Env(), controls_);
    power_.act(action, [open](const auto& failure) { open->settleWith(failure); });
    return open->promise();
  }
  // inhibitors(): Promise<{who, why, what, uid}[]>; rejects when they cannot be listed
  Napi::Value inhibitors(const Napi::CallbackInfo& info) {
    const auto open = OpenPromise::start(info.Env(), controls_);
    power_.inhibitors(
        [open](const std::vector<PowerInhibitor>& list, const std::optional<std::string>& failure) {
          if (failure) return open->reject(*failure);
          open->resolve(list);
        });
    return open->promise();
  }
  // delaySleep(why: string): Promise<void>; rejects with the reason why sleeps are not delayed
  Napi::Value delaySleep(const Napi::CallbackInfo& info) {
    if (!info[0].IsString()) throw Napi::TypeError::New(info.Env(), "why must be a string");
    const auto open = OpenPromise::start(info.Env(), controls_);
    power_.delaySleep(info[0].As<Napi::String>().Utf8Value(),
                      [open](const auto& failure) { open->settleWith(failure); });
    return open->promise();
  }
  // allowSleep(): void
  void allowSleep(const Napi::CallbackInfo&) { power_.allowSleep(); }
  // describe(): Promise<Finding[]>
  Napi::Value describe(const Napi::CallbackInfo& info) {
    const auto open = OpenPromise::start(info.Env(), controls_);
    power_.describe([open](const Findings& findings) { open->resolve(findings); });
    return open->promise();
  }

  std::shared_ptr<Controls> controls_;
  PowerControl power_;
};

}  // namespace

void exportPower(const Exports& exports) { exports.addClass<PowerBinding>("Power"); }

}  // namespace hostwire
