// Native exceptions as JavaScript errors.
#pragma once

#include <napi.h>

#include <exception>
#include <string>

#include "host/error.h"

namespace hostwire {

// Returns the JavaScript error for an exception: with `code` ("ENOENT": HostError::symbol) and `operation`
// for a system error, a plain message otherwise. Call it inside a catch block.
inline Napi::Error toJsError(Napi::Env env, const std::exception& error) {
  auto result = Napi::Error::New(env, error.what());
  if (const auto* host = dynamic_cast<const HostError*>(&error)) {
    result.Set("code", Napi::String::New(env, host->symbol()));
    result.Set("operation", Napi::String::New(env, host->operation()));
  }
  return result;
}

// Returns the result of `call`; adds code and operation to a system error. Node-API's wrapper converts all
// others.
template <class Call>
auto orThrow(Napi::Env env, const Call& call) {
  try {
    return call();
  } catch (const HostError& error) {
    throw toJsError(env, error);
  }
}

}  // namespace hostwire
