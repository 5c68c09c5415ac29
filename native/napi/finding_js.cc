// Converts rows to JavaScript objects.
#include "napi/finding_js.h"

#include "napi/js.h"

namespace hostwire {

static Napi::Value js(Napi::Env env, Finding::Status status) {
  const auto name = [status] {
    switch (status) {
      case Finding::Status::kWorks: return "works";
      case Finding::Status::kPartly: return "partly";
      case Finding::Status::kMissing: break;
    }
    return "missing";
  };
  return js(env, name());
}

// Returns null for an empty text.
static std::optional<std::string_view> textOf(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional<std::string_view>(text);
}

Napi::Value js(Napi::Env env, const Finding& finding) {
  static const Shape shape{Key{"subject", &Finding::subject}, Key{"status", &Finding::status},
                           Key{"source", &Finding::source},
                           Key{"reason", [](const Finding& one) { return textOf(one.obstacle.reason); }},
                           Key{"remedy", [](const Finding& one) { return textOf(one.obstacle.remedy); }}};
  return shape.make(env, finding);
}

}  // namespace hostwire
