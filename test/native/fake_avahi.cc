// avahi-daemon's D-Bus interface: org.freedesktop.Avahi.Server.xml and its siblings.
#include "fake_avahi.h"

#include <algorithm>
#include <cstring>

namespace fake {
namespace {

constexpr std::string_view kNoOwner = "org.freedesktop.DBus.Error.NameHasNoOwner";
constexpr std::string_view kCollision = "org.freedesktop.Avahi.CollisionError";
constexpr std::int32_t kRunning = 2;
constexpr std::int32_t kEstablished = 2;
constexpr std::int32_t kCollided = 3;

Body ownerBody(std::string_view before, std::string_view now) {
  Bytes bytes;
  for (const std::string_view text : {std::string_view("org.freedesktop.Avahi"), before, now})
    bytes.putText(text);
  return {"sss", bytes.text};
}

Answer refusal(std::string_view name) {
  return {Answer::Kind::error, textBody("refused"), "", 1, 0, std::string(name)};
}

Answer answerOf(Body body) { return {Answer::Kind::body, std::move(body), ""}; }

// The text at `offset` of a body.
std::string textAt(const std::string& body, std::size_t offset) {
  std::uint32_t length = 0;
  std::memcpy(&length, body.data() + offset, sizeof length);
  return body.substr(offset + sizeof length, length);
}

}  // namespace

Body textBody(std::string_view text) {
  Bytes bytes;
  bytes.putText(text);
  return {"s", bytes.text};
}

Body pathBody(std::string_view path) { return {"o", textBody(path).bytes}; }

Body numberBody(std::int32_t number) {
  Bytes bytes;
  bytes.put(number);
  return {"i", bytes.text};
}

Avahi::Avahi(std::string path) : bus_(std::move(path), [this](const Call& call) { return answer(call); }) {}

void Avahi::answerBy(Answerer answerer) {
  const std::lock_guard lock(mutex_);
  answerer_ = std::move(answerer);
}

void Avahi::take(std::set<std::string> taken, std::set<std::string> contested) {
  const std::lock_guard lock(mutex_);
  taken_ = std::move(taken);
  contested_ = std::move(contested);
}

void Avahi::end() {
  const std::lock_guard lock(mutex_);
  isThere_ = false;
  groups_.clear();
  emitOwner(ownerBody(":1.99", ""));
}

void Avahi::begin() {
  const std::lock_guard lock(mutex_);
  isThere_ = true;
  emitOwner(ownerBody("", ":1.99"));
}

void Avahi::emitState(std::int32_t state) {
  Bytes bytes;
  bytes.put(state);
  bytes.putText("");
  bus_.emit({"StateChanged", "/", "org.freedesktop.Avahi.Server"}, {"is", bytes.text});
}

void Avahi::emitGroupState(const std::string& group, std::int32_t state, std::string_view error) {
  Bytes bytes;
  bytes.put(state);
  bytes.putText(error);
  bus_.emit({"StateChanged", group, "org.freedesktop.Avahi.EntryGroup"}, {"is", bytes.text});
}

void Avahi::emitOwner(const Body& body) {
  bus_.emit({"NameOwnerChanged", "/org/freedesktop/DBus", "org.freedesktop.DBus", "org.freedesktop.DBus"},
            body);
}

std::vector<std::string> Avahi::names() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [path, group] : groups_)
    if (group.isCommitted) names.push_back(group.name);
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> Avahi::groups() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> paths;
  for (const auto& [path, group] : groups_) paths.push_back(path);
  return paths;
}

Answer Avahi::answer(const Call& call) {
  const std::lock_guard lock(mutex_);
  if (!isThere_) return refusal(kNoOwner);
  if (answerer_)
    if (auto own = answerer_(call)) return std::move(*own);
  if (groups_.contains(call.path)) return answerGroup(call);
  if (call.path == "/") return answerServer(call);
  return refusal("org.freedesktop.DBus.Error.UnknownObject");
}

Answer Avahi::answerServer(const Call& call) {
  if (call.member == "GetState") return answerOf(numberBody(kRunning));
  if (call.member == "GetVersionString") return answerOf(textBody("avahi 0.8"));
  if (call.member == "GetAlternativeServiceName") return answerOf(textBody(call.text + "'"));
  if (call.member != "EntryGroupNew") return refusal("org.freedesktop.DBus.Error.UnknownMethod");
  const std::string path = "/Client1/EntryGroup" + std::to_string(++lastNumber_);
  groups_[path] = {};
  return answerOf(pathBody(path));
}

Answer Avahi::answerGroup(const Call& call) {
  Group& group = groups_[call.path];
  if (call.member == "AddService") {
    const std::string name = textAt(call.body, 12);
    if (taken_.contains(name)) return refusal(kCollision);
    group.name = name;
  } else if (call.member == "Commit") {
    const bool isContested = contested_.contains(group.name);
    group.isCommitted = !isContested;
    emitGroupState(call.path, 1);
    emitGroupState(call.path, isContested ? kCollided : kEstablished);
  } else if (call.member == "Reset") {
    group = {};
  } else if (call.member == "Free") {
    groups_.erase(call.path);
  }
  return answerOf({});
}

}  // namespace fake
