// The JavaScript class `Discovery`: announcements of this service; the keys mirror src/host/discovery.ts.
#include <napi.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/discovery.h"
#include "napi/controls_binding.h"
#include "napi/exports.h"
#include "napi/finding_js.h"
#include "napi/from_js.h"

namespace hostwire {

HOSTWIRE_JS(Announced, KEY(name), KEY(isAnnounced), key<Self, &Self::reason, orNull>("reason"))

namespace {

Announcement announcementOf(const Napi::Value& value) {
  const auto given = value.ToObject();
  return {textOf(given.Get("name")), static_cast<std::uint16_t>(given.Get("port").ToNumber().Uint32Value()),
          textOf(given.Get("link")), listOf(given.Get("texts"), textOf)};
}

class DiscoveryBinding : public Napi::ObjectWrap<DiscoveryBinding> {
 public:
  static Napi::Function define(Napi::Env env, const char* name, void*) {
    return DefineClass(env, name,
                       {InstanceMethod<&DiscoveryBinding::announce>("announce"),
                        InstanceMethod<&DiscoveryBinding::describe>("describe")});
  }
  // new Discovery(controls, onNews: (announced: Announced[]) => void)
  explicit DiscoveryBinding(const Napi::CallbackInfo& info)
      : Napi::ObjectWrap<DiscoveryBinding>(info),
        controls_(controlsOf(info[0])),
        discovery_(controls_->thread, Listener(info[1], "onNews", controls_)) {}

 private:
  // announce(list: {name, port, link, texts}[]): Promise<void>
  Napi::Value announce(const Napi::CallbackInfo& info) {
    auto list = listOf(info[0], announcementOf);
    const auto open = OpenPromise::start(info.Env(), controls_);
    discovery_.announce(std::move(list), [open] { open->resolve(); });
    return open->promise();
  }
  // describe(): Promise<Finding[]>
  Napi::Value describe(const Napi::CallbackInfo& info) {
    const auto open = OpenPromise::start(info.Env(), controls_);
    discovery_.describe([open](const Finding& finding) { open->resolve(Findings{finding}); });
    return open->promise();
  }

  std::shared_ptr<Controls> controls_;
  Discovery discovery_;
};

}  // namespace

void exportDiscovery(const Exports& exports) { exports.addClass<DiscoveryBinding>("Discovery"); }

}  // namespace hostwire
