// Converts the power manager's answers to JavaScript objects.
#include "napi/power_js.h"

#include "napi/js.h"

namespace hostwire {

Napi::Value js(Napi::Env env, const PowerSupport& support) {
  static const Shape shape{Key{"isSupported", &PowerSupport::isSupported},
                           Key{"reason", orNull(&PowerSupport::reason)}};
  return shape.make(env, support);
}

Napi::Value js(Napi::Env env, const PowerInhibitor& inhibitor) {
  static const Shape shape{Key{"who", &PowerInhibitor::who}, Key{"why", &PowerInhibitor::why},
                           Key{"what", &PowerInhibitor::what}, Key{"uid", &PowerInhibitor::uid}};
  return shape.make(env, inhibitor);
}

}  // namespace hostwire
