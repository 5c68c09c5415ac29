// Objects with fixed keys, made by one call into a literal that JavaScript's own compiler has laid out: a Set
// a key would look up the key's name and grow the object each time, which costs about ten times as much.
#pragma once

#include <napi.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace hostwire {

// Two shapes of one addon have different ids.
struct Shape {
  std::size_t id;
  const char* keys;  // as in an object literal, in the order of the values: "user, nice"
};

// The literals of one environment: a worker thread that loads the addon has its own.
struct ShapeMakers {
  std::vector<Napi::FunctionReference> byId;
};

inline Napi::Function makerOf(Napi::Env env, const Shape& shape) {
  auto* makers = env.GetInstanceData<ShapeMakers>();
  if (makers == nullptr) {
    makers = new ShapeMakers;  // the environment deletes it
    env.SetInstanceData(makers);
  }
  if (makers->byId.size() <= shape.id) makers->byId.resize(shape.id + 1);
  auto& maker = makers->byId[shape.id];
  if (maker.IsEmpty()) {
    const std::string keys = shape.keys;
    maker = Napi::Persistent(env.RunScript("((" + keys + ") => ({ " + keys + " }))").As<Napi::Function>());
  }
  return maker.Value();
}

// `values` in the order of the shape's keys; a key without one is undefined.
inline Napi::Object makeObject(Napi::Env env, const Shape& shape, std::initializer_list<napi_value> values) {
  return makerOf(env, shape).Call(env.Undefined(), values).As<Napi::Object>();
}

// What `convert` makes of each of `values`. An array that is made to its length is one of holes to V8 for
// good, and so is all that JavaScript maps it to: JSON.stringify then takes twice as long.
template <class List, class Convert>
Napi::Array makeArray(Napi::Env env, const List& values, const Convert& convert) {
  auto array = Napi::Array::New(env);
  for (std::uint32_t at = 0; at < values.size(); ++at) array.Set(at, convert(values[at]));
  return array;
}

}  // namespace hostwire
