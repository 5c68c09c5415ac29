// Converts C++ values to JavaScript: one overload set, js(env, value). HOSTWIRE_JS defines a struct's own
// overload; lists, optional values and numbers need none.
#pragma once

#include <napi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace hostwire {

template <class List>
concept IsList = requires(const List& list) {
  list[0];
  list.size();
};

// All are declared before any is defined: a list may be inside an optional value, and vice versa. Overloads
// for structs follow and are found by their argument, so they must not be in an unnamed namespace.
template <class T>
Napi::Value js(Napi::Env env, const std::optional<T>& value);
template <IsList List>
Napi::Value js(Napi::Env env, const List& values);

inline Napi::Value js(Napi::Env env, const char* text) { return Napi::String::New(env, text); }
inline Napi::Value js(Napi::Env env, std::string_view text) {
  return Napi::String::New(env, text.data(), text.size());
}
inline Napi::Value js(Napi::Env env, const std::string& text) { return Napi::String::New(env, text); }

// A number has 53 bits: counters exceed that only after petabytes, or 300 years at 1 MW; there they lose
// single units.
template <class T>
requires std::is_arithmetic_v<T> Napi::Value js(Napi::Env env, T value) {
  if constexpr (std::is_same_v<T, bool>)
    return Napi::Boolean::New(env, value);
  else
    return Napi::Number::New(env, static_cast<double>(value));
}

template <class T>
Napi::Value js(Napi::Env env, const std::optional<T>& value) {
  return value ? js(env, *value) : env.Null();
}

// The array grows: one made with its length stays a "holey" array in V8, as does every array mapped from it,
// and JSON.stringify takes twice as long for those.
template <IsList List>
Napi::Value js(Napi::Env env, const List& values) {
  auto array = Napi::Array::New(env);
  for (std::uint32_t at = 0; at < values.size(); ++at) array.Set(at, js(env, values[at]));
  return array;
}

// An object literal that JavaScript's own compiler has laid out, called to make an object: one Set per key
// would look up the key's name and grow the object each time, which takes about ten times as long.
class Literal {
 public:
  // `keys` as in an object literal: "user, nice". Keep it for the life of the process (static).
  explicit Literal(std::string keys) : keys_(std::move(keys)), id_(nextId()) {}

  // Makes an object of `values`, in the order of the keys.
  Napi::Object make(Napi::Env env, std::span<const napi_value> values) const {
    return maker(env).Call(env.Undefined(), values.size(), values.data()).template As<Napi::Object>();
  }

 private:
  // The functions of one environment by id: a worker thread that loads the addon has its own.
  using Makers = std::vector<Napi::FunctionReference>;

  static std::size_t nextId() {
    static std::atomic<std::size_t> next{0};
    return next++;
  }

  Napi::Function maker(Napi::Env env) const {
    auto* makers = env.GetInstanceData<Makers>();
    if (makers == nullptr) {
      makers = new Makers;  // the environment deletes it
      env.SetInstanceData(makers);
    }
    if (makers->size() <= id_) makers->resize(id_ + 1);
    auto& known = (*makers)[id_];
    if (known.IsEmpty())
      known =
          Napi::Persistent(env.RunScript("((" + keys_ + ") => ({ " + keys_ + " }))").As<Napi::Function>());
    return known.Value();
  }

  std::string keys_;
  std::size_t id_;
};

// One key of an object, and the function that converts its value.
struct Key {
  const char* name;
  napi_value (*get)(Napi::Env env, const void* object);
};

// Returns what a path leads to: each step is a member, or a function of what precedes it.
template <auto Step, auto... Rest, class T>
decltype(auto) follow(const T& value) {
  const auto step = [](const T& from) -> decltype(auto) {
    if constexpr (std::is_member_object_pointer_v<decltype(Step)>)
      return (from.*Step);
    else
      return Step(from);
  };
  if constexpr (sizeof...(Rest) == 0)
    return step(value);
  else
    return follow<Rest...>(step(value));
}

template <class T, auto... Path>
Key key(const char* name) {
  return {name, [](Napi::Env env, const void* object) -> napi_value {
            return js(env, follow<Path...>(*static_cast<const T*>(object)));
          }};
}

// Converts a struct to an object. Make it once, as a static variable of the struct's overload of js.
class Shape {
 public:
  Shape(std::initializer_list<Key> keys) : Shape(std::vector(keys)) {}

  // Returns a shape of these keys and `more`.
  Shape with(std::initializer_list<Key> more) const {
    auto keys = keys_;
    keys.insert(keys.end(), more);
    return Shape(std::move(keys));
  }

  // `object`: the struct of which the keys are.
  Napi::Value make(Napi::Env env, const void* object) const {
    std::vector<napi_value> values;
    values.reserve(keys_.size());
    for (const Key& key : keys_) values.push_back(key.get(env, object));
    return literal_.make(env, values);
  }

 private:
  explicit Shape(std::vector<Key> keys) : keys_(std::move(keys)), literal_(join(keys_)) {}

  static std::string join(const std::vector<Key>& keys) {
    std::string joined;
    for (const Key& key : keys) joined.append(joined.empty() ? "" : ", ").append(key.name);
    return joined;
  }

  std::vector<Key> keys_;
  Literal literal_;
};

// Defines the overload of js for a struct, which is called Self in the list of its keys.
#define HOSTWIRE_JS(Struct, ...)                               \
  static Napi::Value js(Napi::Env env, const Struct& object) { \
    using Self = Struct;                                       \
    static const Shape shape{__VA_ARGS__};                     \
    return shape.make(env, &object);                           \
  }
// A key that is called like the member of Self.
#define KEY(member) key<Self, &Self::member>(#member)
// The same for a member of a struct inside Self.
#define KEY_IN(outer, Struct, member) key<Self, &Self::outer, &Struct::member>(#member)

// A step of a path: the text, or null if it is empty; reasons are empty when nothing failed.
inline std::optional<std::string_view> orNull(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional<std::string_view>(text);
}

// Converts an enumerator to its name; `names` are in the order of the enumeration.
template <class Enum, std::size_t N>
Napi::Value named(Napi::Env env, Enum value, const char* const (&names)[N]) {
  const auto at = static_cast<std::size_t>(value);
  if (at >= N) throw std::out_of_range("an enumerator without a name");
  return js(env, names[at]);
}

}  // namespace hostwire
