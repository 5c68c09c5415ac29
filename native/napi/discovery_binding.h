// The JavaScript class `Discovery`: announcements of this service; the keys mirror src/host/discovery.ts.
#pragma once

#include <napi.h>

#include <memory>

#include "host/discovery.h"
#include "napi/controls_binding.h"

namespace hostwire {

class DiscoveryBinding : public Napi::ObjectWrap<DiscoveryBinding> {
 public:
  static Napi::Function define(Napi::Env env);
  // new Discovery(controls, onNews: (announced: Announced[]) => void)
  explicit DiscoveryBinding(const Napi::CallbackInfo& info);

 private:
  // announce(list: {name, port, link, texts}[]): Promise<void>
  Napi::Value announce(const Napi::CallbackInfo& info);
  // describe(): Promise<Finding[]>
  Napi::Value describe(const Napi::CallbackInfo& info);

  std::shared_ptr<Controls> controls_;
  std::unique_ptr<Discovery> discovery_;
};

}  // namespace hostwire
