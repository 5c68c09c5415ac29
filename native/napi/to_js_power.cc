// What the power manager answers, as JavaScript objects.
#include "napi/to_js_power.h"

#include <string>

namespace hostwire {
namespace {

// Empty is null: absent.
Napi::Value orNull(Napi::Env env, const std::string& text) {
  if (text.empty()) return env.Null();
  return Napi::String::New(env, text);
}

}  // namespace

Napi::Value toJs(Napi::Env env, const PowerSupport& support) {
  auto object = Napi::Object::New(env);
  object.Set("isSupported", Napi::Boolean::New(env, support.isSupported));
  object.Set("reason", orNull(env, support.reason));
  return object;
}

Napi::Value toJs(Napi::Env env, const std::vector<PowerInhibitor>& inhibitors) {
  auto array = Napi::Array::New(env, inhibitors.size());
  for (std::uint32_t i = 0; i < inhibitors.size(); ++i) {
    auto object = Napi::Object::New(env);
    object.Set("who", Napi::String::New(env, inhibitors[i].who));
    object.Set("why", Napi::String::New(env, inhibitors[i].why));
    object.Set("what", Napi::String::New(env, inhibitors[i].what));
    object.Set("uid", Napi::Number::New(env, inhibitors[i].uid));
    array.Set(i, object);
  }
  return array;
}

Napi::Value toJs(Napi::Env env, const PowerAuthority& authority) {
  auto object = Napi::Object::New(env);
  object.Set("name", orNull(env, authority.name));
  object.Set("reached", Napi::String::New(env, authority.reached));
  object.Set("reason", orNull(env, authority.reason));
  return object;
}

}  // namespace hostwire
