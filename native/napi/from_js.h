// Converts JavaScript's arguments.
#pragma once

#include <napi.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "host/roots.h"

namespace hostwire {

inline std::string textOf(const Napi::Value& value) { return value.ToString().Utf8Value(); }

// Converts a list; `convert` takes an element.
template <class Element>
std::vector<Element> listOf(const Napi::Value& value, Element (*convert)(const Napi::Value&)) {
  const auto given = value.As<Napi::Array>();
  std::vector<Element> list;
  list.reserve(given.Length());
  for (std::uint32_t at = 0; at < given.Length(); ++at) list.push_back(convert(given.Get(at)));
  return list;
}

// These set `to` if `options` has the key.
inline void setText(const Napi::Object& options, const char* key, std::string& to) {
  const Napi::Value value = options.Get(key);
  if (value.IsString()) to = value.As<Napi::String>().Utf8Value();
}
inline void setTime(const Napi::Object& options, const char* key, std::chrono::milliseconds& to) {
  const Napi::Value value = options.Get(key);
  if (value.IsNumber()) to = std::chrono::milliseconds(value.As<Napi::Number>().Int64Value());
}

// Converts {proc?, sys?, files?}.
inline Roots rootsOf(const Napi::Value& value) {
  Roots roots;
  if (!value.IsObject()) return roots;
  const auto options = value.As<Napi::Object>();
  setText(options, "proc", roots.proc);
  setText(options, "sys", roots.sys);
  setText(options, "files", roots.files);
  return roots;
}

}  // namespace hostwire
