// The JavaScript class `Discovery`.
#include "napi/discovery_binding.h"

#include <string>
#include <utility>
#include <vector>

#include "napi/finding_js.h"
#include "napi/js.h"

namespace hostwire {

Napi::Value js(Napi::Env env, const Announced& announced) {
  static const Shape shape{Key{"name", &Announced::name}, Key{"isAnnounced", &Announced::isAnnounced},
                           Key{"reason", orNull(&Announced::reason)}};
  return shape.make(env, announced);
}

namespace {

std::string textOf(const Napi::Value& value) { return value.ToString().Utf8Value(); }

std::vector<Announcement> announcementsOf(const Napi::Value& value) {
  std::vector<Announcement> list;
  const auto given = value.As<Napi::Array>();
  for (std::uint32_t at = 0; at < given.Length(); ++at) {
    const auto each = given.Get(at).ToObject();
    Announcement announcement;
    announcement.name = textOf(each.Get("name"));
    announcement.port = static_cast<std::uint16_t>(each.Get("port").ToNumber().Uint32Value());
    announcement.link = textOf(each.Get("link"));
    const auto texts = each.Get("texts").As<Napi::Array>();
    for (std::uint32_t text = 0; text < texts.Length(); ++text)
      announcement.texts.push_back(textOf(texts.Get(text)));
    list.push_back(std::move(announcement));
  }
  return list;
}

}  // namespace

Napi::Function DiscoveryBinding::define(Napi::Env env) {
  return DefineClass(env, "Discovery",
                     {InstanceMethod<&DiscoveryBinding::announce>("announce"),
                      InstanceMethod<&DiscoveryBinding::describe>("describe")});
}

DiscoveryBinding::DiscoveryBinding(const Napi::CallbackInfo& info)
    : Napi::ObjectWrap<DiscoveryBinding>(info), controls_(ControlsBinding::of(info[0])) {
  if (!info[1].IsFunction()) throw Napi::TypeError::New(info.Env(), "onNews must be a function");
  // Held by callbacks of the command thread, which is joined on the JavaScript thread.
  const auto listener =
      std::make_shared<Napi::FunctionReference>(Napi::Persistent(info[1].As<Napi::Function>()));
  // The controls own the caller of this, so it must not own them.
  const std::weak_ptr<Controls> controls = controls_;
  discovery_ = std::make_unique<Discovery>(controls_->thread, [controls, listener](
                                                                  const std::vector<Announced>& announced) {
    const auto alive = controls.lock();
    if (!alive) return;
    alive->js.post([listener, announced](Napi::Env env) { listener->Value().Call({js(env, announced)}); });
  });
}

Napi::Value DiscoveryBinding::announce(const Napi::CallbackInfo& info) {
  auto list = announcementsOf(info[0]);
  const auto open = OpenPromise::start(info.Env(), controls_);
  discovery_->announce(std::move(list),
                       [open] { OpenPromise::resolve(open, [](Napi::Env env) { return env.Undefined(); }); });
  return open->promise();
}

Napi::Value DiscoveryBinding::describe(const Napi::CallbackInfo& info) {
  const auto open = OpenPromise::start(info.Env(), controls_);
  discovery_->describe([open](const Finding& finding) {
    OpenPromise::resolve(open, [finding](Napi::Env env) { return js(env, Findings{finding}); });
  });
  return open->promise();
}

}  // namespace hostwire
