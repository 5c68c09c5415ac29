// Converts C++ values to JavaScript: one overload set, js(env, value). A struct gets its own overload, made
// of a Shape; lists, optional values and numbers need none.
#pragma once

#include <napi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
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

// One key of an object, and the source of its value: a member, or a function of the struct.
template <class Get>
struct Key {
  const char* name;
  Get get;
};
template <class Get>
Key(const char*, Get) -> Key<Get>;

// Converts a struct to an object. Make it once, as a static variable of the struct's overload of js.
template <class... Gets>
class Shape {
 public:
  explicit Shape(Key<Gets>... keys) : keys_(keys...), literal_(join({keys.name...})) {}

  // Returns a shape of these keys and `more`.
  template <class... More>
  Shape<Gets..., More...> with(Key<More>... more) const {
    return std::apply([&](const auto&... key) { return Shape<Gets..., More...>{key..., more...}; }, keys_);
  }

  template <class T>
  Napi::Value make(Napi::Env env, const T& value) const {
    return std::apply(
        [&](const auto&... key) {
          const std::array<napi_value, sizeof...(Gets)> values{js(env, std::invoke(key.get, value))...};
          return literal_.make(env, values);
        },
        keys_);
  }

 private:
  static std::string join(std::initializer_list<const char*> names) {
    std::string joined;
    for (const char* name : names) joined.append(joined.empty() ? "" : ", ").append(name);
    return joined;
  }

  std::tuple<Key<Gets>...> keys_;
  Literal literal_;
};

// A source: the text, or null if it is empty; reasons are empty when nothing failed.
template <class T>
auto orNull(std::string T::*text) {
  return [text](const T& value) {
    const std::string_view found = value.*text;
    return found.empty() ? std::nullopt : std::optional(found);
  };
}

// A source: `member` of the inner struct `outer`.
template <class T, class Inner, class Value>
auto inside(Inner T::*outer, Value Inner::*member) {
  return [outer, member](const T& value) -> const Value& { return value.*outer.*member; };
}

}  // namespace hostwire
