// Looking for services: what a browser of Avahi reports, and what it ought not to.
#include <algorithm>
#include <limits>

#include "discovery_rig.h"

namespace discovery {
namespace {

using Kind = fake::Answer::Kind;
using Names = std::vector<std::string>;

constexpr const char* kUnknownForm = "Avahi sent an answer in an unknown format";

constexpr milliseconds kLongest{60'000};

// Calls `look` with longer and longer times until it returns true: how long a machine with other load takes
// is not known.
template <class Look>
void takesItsTime(const std::string& what, const Look& look) {
  for (milliseconds duration{200}; duration < kLongest; duration *= 3)
    if (look(duration)) return;
  check(false, what);
}

bool hasTwins(const Names& sorted) {
  return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
}

void findsServices() {
  Rig rig;
  rig.avahi->setServices({"one", "two"});
  for (const bool isHasty : {false, true}) {
    rig.avahi->setHasty(isHasty);
    Found found;
    takesItsTime("both are found", [&](milliseconds duration) {
      found = rig.browse(duration);
      return !found.failure && found.names() == Names{"one", "two"};
    });
    if (found.services.empty()) continue;
    const FoundService& first = found.services.front();
    check(first.host == "desk.local" && first.address == "192.0.2.7" && first.port == 9990, "where it is");
    check(first.texts == Names{"a=1", "\xff\xfe=\x01"}, "its texts, whatever their bytes are");
    check(first.link == "lo", "the interface: " + first.link);
    check(comesTrue([&] { return rig.avahi->browserCount() == 0; }), "the browser is freed");
  }
}

void findsEachOnceInEachLook() {
  Rig rig;
  Names names;
  for (int i = 0; i < 20; ++i) names.push_back("s" + std::to_string(10 + i));
  rig.avahi->setServices(names);
  takesItsTime("several at once find all", [&](milliseconds duration) {
    std::vector<std::future<Found>> looks;
    for (int i = 0; i < 8; ++i) looks.push_back(rig.look(duration));
    bool isWhole = true;
    for (auto& look : looks) {
      const Names found = answerOf(std::move(look)).names();
      check(!hasTwins(found), "each service once: " + std::to_string(found.size()));
      isWhole = isWhole && found == names;
    }
    return isWhole;
  });
  check(comesTrue([&] { return rig.avahi->browserCount() == 0; }), "all browsers are freed");
}

void limitsWhatANetworkHas() {
  Rig rig;
  Names many;
  for (int i = 0; i < 10'000; ++i) many.push_back("s" + std::to_string(i));
  rig.avahi->setServices(many);
  takesItsTime("256 services are found", [&](milliseconds duration) {
    const int before = rig.avahi->bus().count("ResolveService");
    const std::size_t count = rig.browse(duration).services.size();
    check(rig.avahi->bus().count("ResolveService") - before <= 256, "no more of them are asked for");
    check(count <= 256, "nor listed: " + std::to_string(count));
    check(comesTrue([&] { return rig.describe().starts_with("avahi"); }), "the rest is heard and dropped");
    return count == 256;
  });
}

void resolvesWhatItCan() {
  Rig rig;
  rig.avahi->setServices({"never", "twice", "refused", "odd", "nameless", "last"});
  rig.avahi->answerBy([](const fake::Call& call) -> std::optional<fake::Answer> {
    const auto is = [&](const char* name) { return call.body.find(name) != std::string::npos; };
    if (call.member != "ResolveService") return std::nullopt;
    if (is("never")) return fake::Answer{Kind::nothing, {}, ""};
    if (is("twice")) return fake::Answer{Kind::body, fake::resolvedBody("twice"), "", 2};
    if (is("refused")) return fake::Answer{Kind::error, fake::textBody("Timeout reached"), ""};
    if (is("odd")) return fake::Answer{Kind::body, fake::numberBody(3), ""};
    if (is("nameless")) return fake::Answer{Kind::body, fake::resolvedBody("\xff\xfe"), ""};
    return std::nullopt;
  });
  takesItsTime("those that were resolved, once", [&](milliseconds duration) {
    const Found found = rig.browse(duration);
    check(!found.failure && !hasTwins(found.names()), "the others are no failure");
    return found.names() == Names{"last", "twice"};
  });
}

// Each number has the type of a float, which holds what an integer cannot.
fake::Body floatItem(double link) {
  fake::Bytes bytes;
  bytes.put(link);
  bytes.put(-link);
  for (const char* text : {"float", "_hostwire._tcp", "local"}) bytes.putText(text);
  return {"ddsss", bytes.text};
}

void emitOddItems(fake::Avahi& avahi) {
  using Limits = std::numeric_limits<double>;
  for (const double link : {1e300, -1e300, Limits::infinity(), Limits::quiet_NaN(), 2147483648.0, 0.5})
    avahi.emitFromBrowser("ItemNew", floatItem(link));
  for (const char* name : {"", "\xff\xfe", "\xc3\x28"})
    avahi.emitFromBrowser("ItemNew", fake::itemBody(name));
  avahi.emitFromBrowser("ItemNew", fake::itemBody(std::string(2000, 'x')));
  avahi.emitFromBrowser("ItemNew", {});
  avahi.emitFromBrowser("ItemNew", fake::textBody("real"));
  for (const char* member : {"ItemRemove", "CacheExhausted", "ItemNewer"})
    avahi.emitFromBrowser(member, fake::itemBody("other"));
  avahi.emitFromBrowser("ItemNew", fake::itemBody("last"));
}

void hearsOddItems() {
  Rig rig;
  rig.avahi->setServices({"real"});
  takesItsTime("the real ones are found among odd ones", [&](milliseconds duration) {
    auto look = rig.look(duration);
    check(comesTrue([&] { return rig.avahi->browserCount() == 1; }), "a browser");
    emitOddItems(*rig.avahi);
    const Found found = answerOf(std::move(look));
    const Names names = found.names();
    const auto has = [&](const char* name) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    check(!has("other") && !hasTwins(names), "what was not reported is not found");
    check(!found.failure && rig.describe().starts_with("avahi"), "the connection is kept");
    check(comesTrue([&] { return rig.avahi->browserCount() == 0; }), "the browser is freed");
    return has("real") && has("last");
  });
}

void failsWithAReason() {
  const auto failureOf = [](const fake::Answer& given) {
    Rig rig;
    rig.avahi->answerBy([=](const fake::Call& call) -> std::optional<fake::Answer> {
      if (call.member == "ServiceBrowserNew") return given;
      return std::nullopt;
    });
    return rig.browse(milliseconds{50}).failure.value_or("none");
  };
  const auto is = [&](const fake::Answer& given, const std::string& failure) {
    const std::string was = failureOf(given);
    check(was == failure, "\"" + failure + "\": " + was);
  };
  is({Kind::error, fake::textBody("no"), ""}, "Avahi refuses: no");
  is({Kind::nothing, {}, ""}, "Avahi does not answer");
  is({Kind::hangUp, {}, ""}, "Avahi or the system bus ended without an answer");
  is({Kind::body, fake::textBody("not a path"), ""}, kUnknownForm);
  is({Kind::body, fake::pathBody("/" + std::string(2000, 'x')), ""}, kUnknownForm);
  is({Kind::body, fake::numberBody(1), ""}, kUnknownForm);
  is({Kind::body, {}, ""}, kUnknownForm);
  Rig rig;
  takesItsTime("a failure of the browser", [&](milliseconds duration) {
    auto look = rig.look(duration);
    check(comesTrue([&] { return rig.avahi->browserCount() == 1; }), "a browser");
    rig.avahi->emitFromBrowser("Failure", fake::textBody("no memory"));
    const auto failure = answerOf(std::move(look)).failure;
    check(comesTrue([&] { return rig.avahi->browserCount() == 0; }), "the browser is freed");
    return failure == "Avahi cannot browse: no memory";
  });
  rig.avahi->end();
  check(rig.browse().failure == "Avahi is not on the system bus", "no Avahi");
  rig.avahi.reset();
  check(rig.browse().failure.value_or("").starts_with("no system bus: "), "no bus");
}

void outlivesAvahi() {
  Rig rig;
  rig.avahi->setServices({"one"});
  for (const bool isBus : {false, true}) {
    auto look = rig.look(milliseconds{500});
    check(comesTrue([&] { return rig.avahi->bus().count("ResolveService") > 0; }), "one is found");
    if (isBus)
      rig.avahi.reset();
    else
      rig.avahi->end();
    const Found found = answerOf(std::move(look));
    check(found.names().size() <= 1, "what was found before");
    if (!isBus) rig.avahi->begin();
  }
}

}  // namespace

void checkBrowsing() {
  findsServices();
  findsEachOnceInEachLook();
  limitsWhatANetworkHas();
  resolvesWhatItCan();
  hearsOddItems();
  failsWithAReason();
  outlivesAvahi();
}

}  // namespace discovery
