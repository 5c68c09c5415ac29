// The JavaScript class `Media`.
#include "napi/media_binding.h"

#include <chrono>
#include <mutex>
#include <utility>

#include "napi/error_js.h"
#include "napi/finding_js.h"
#include "napi/js.h"
#include "napi/media_js.h"

namespace hostwire {

// Limits notifications: after one, JavaScript gets the next only when it has asked for it.
struct MediaBinding::Pace {
  std::mutex mutex;
  bool isArmed = true;  // the next change is reported
  bool hasChanged = false;

  // Returns whether this change must be reported now.
  bool takeChange() {
    const std::lock_guard lock(mutex);
    hasChanged = !isArmed;
    return std::exchange(isArmed, false);
  }
  bool rearm() {
    const std::lock_guard lock(mutex);
    isArmed = !hasChanged;
    return std::exchange(hasChanged, false);
  }
};

namespace {

Roots rootsOf(const Napi::Value& options) {
  Roots roots;
  if (!options.IsObject()) return roots;
  const Napi::Value files = options.As<Napi::Object>().Get("files");
  if (files.IsString()) roots.files = files.As<Napi::String>().Utf8Value();
  return roots;
}

MediaVerb verbOf(const Napi::Value& value) {
  const std::uint32_t verb = value.ToNumber().Uint32Value();
  if (verb >= kMediaVerbs) throw Napi::RangeError::New(value.Env(), "unknown media verb");
  return static_cast<MediaVerb>(verb);
}

}  // namespace

Napi::Function MediaBinding::define(Napi::Env env) {
  return DefineClass(
      env, "Media",
      {InstanceMethod<&MediaBinding::watch>("watch"), InstanceMethod<&MediaBinding::read>("read"),
       InstanceMethod<&MediaBinding::rearm>("rearm"), InstanceMethod<&MediaBinding::control>("control"),
       InstanceMethod<&MediaBinding::readArt>("readArt"),
       InstanceMethod<&MediaBinding::askArtUrl>("askArtUrl"),
       InstanceMethod<&MediaBinding::keyAbsence>("keyAbsence"),
       InstanceMethod<&MediaBinding::describe>("describe"),
       InstanceMethod<&MediaBinding::openKeys>("openKeys"),
       InstanceMethod<&MediaBinding::pressKey>("pressKey")});
}

MediaBinding::MediaBinding(const Napi::CallbackInfo& info)
    : Napi::ObjectWrap<MediaBinding>(info),
      controls_(ControlsBinding::of(info[0])),
      completions_(Completions::open(info.Env())),
      pace_(std::make_shared<Pace>()),
      keys_(rootsOf(info[1])) {
  if (!info[2].IsFunction()) throw Napi::TypeError::New(info.Env(), "onNews must be a function");
  // Held by callbacks of the command thread, which is joined on the JavaScript thread.
  const auto listener =
      std::make_shared<Napi::FunctionReference>(Napi::Persistent(info[2].As<Napi::Function>()));
  // The controls own the caller of this, so it must not own them.
  const std::weak_ptr<Controls> controls = controls_;
  players_ = std::make_unique<MediaPlayers>(controls_->thread, [controls, listener, pace = pace_] {
    if (!pace->takeChange()) return;
    if (const auto alive = controls.lock())
      alive->js.post([listener](Napi::Env) { listener->Value().Call({}); });
  });
}

Napi::Value MediaBinding::watch(const Napi::CallbackInfo& info) {
  players_->watch();
  return info.Env().Undefined();
}

Napi::Value MediaBinding::read(const Napi::CallbackInfo& info) { return js(info.Env(), players_->read()); }

Napi::Value MediaBinding::rearm(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), pace_->rearm());
}

Napi::Value MediaBinding::control(const Napi::CallbackInfo& info) {
  const std::string id = info[0].ToString().Utf8Value();
  const MediaVerb verb = verbOf(info[1]);
  const double value = info[2].ToNumber().DoubleValue();
  const std::chrono::milliseconds limit{info[3].ToNumber().Int64Value()};
  const auto open = OpenPromise::start(info.Env(), controls_);
  players_->control(id, verb, value, limit, [open](const MediaReply& reply) {
    OpenPromise::resolve(open, [reply](Napi::Env env) { return js(env, reply); });
  });
  return open->promise();
}

Napi::Value MediaBinding::readArt(const Napi::CallbackInfo& info) {
  const std::string id = info[0].ToString().Utf8Value();
  const std::string path = info[1].ToString().Utf8Value();
  const std::size_t maxBytes = info[2].ToNumber().Uint32Value();
  return startDetached<std::string>(info.Env(), completions_, players_->artReader(id, path, maxBytes),
                                    [](Napi::Env env, const std::string& bytes) -> Napi::Value {
                                      const auto copy =
                                          Napi::Buffer<char>::Copy(env, bytes.data(), bytes.size());
                                      return {env, copy};
                                    });
}

Napi::Value MediaBinding::askArtUrl(const Napi::CallbackInfo& info) {
  const std::string id = info[0].ToString().Utf8Value();
  const std::size_t maxBytes = info[1].ToNumber().Uint32Value();
  const std::chrono::milliseconds limit{info[2].ToNumber().Int64Value()};
  const auto open = OpenPromise::start(info.Env(), controls_);
  players_->askArtUrl(id, maxBytes, limit, [open](const std::optional<std::string>& address) {
    OpenPromise::resolve(open, [address](Napi::Env env) { return js(env, address); });
  });
  return open->promise();
}

Napi::Value MediaBinding::keyAbsence(const Napi::CallbackInfo& info) {
  const auto absence = keys_.absence();
  return absence ? js(info.Env(), absence->reason) : info.Env().Null();
}

Napi::Value MediaBinding::describe(const Napi::CallbackInfo& info) {
  const Finding players = players_->describe();
  const bool areKeysNeeded = players.status == Finding::Status::kMissing;
  return js(info.Env(), Findings{players, describeKeys(keys_.absence(), areKeysNeeded)});
}

Napi::Value MediaBinding::openKeys(const Napi::CallbackInfo& info) {
  try {
    return Napi::Boolean::New(info.Env(), keys_.open());
  } catch (const HostError& error) {
    throw toJsError(info.Env(), error);
  }
}

Napi::Value MediaBinding::pressKey(const Napi::CallbackInfo& info) {
  const MediaVerb verb = verbOf(info[0]);
  try {
    keys_.press(verb);
  } catch (const HostError& error) {
    throw toJsError(info.Env(), error);
  }
  return info.Env().Undefined();
}

}  // namespace hostwire
