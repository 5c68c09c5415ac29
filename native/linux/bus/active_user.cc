// The active user: the Seat, Session and User objects of org.freedesktop.login1(5).
#include "linux/bus/active_user.h"

#include <chrono>
#include <optional>
#include <utility>

namespace hostwire {
namespace {

constexpr std::chrono::milliseconds kDeadline{1000};
constexpr const char* kSeat = "/org/freedesktop/login1/seat/seat0";
constexpr const char* kSeatRule =
    "type='signal',sender='org.freedesktop.login1',path='/org/freedesktop/login1/seat/seat0',"
    "interface='org.freedesktop.DBus.Properties',member='PropertiesChanged'";
constexpr std::size_t kMaxProperties = 100;
constexpr std::size_t kMaxTextBytes = 4096;

Call allPropertiesOf(const std::string& path, const char* interface) {
  return {"org.freedesktop.login1",
          path,
          "org.freedesktop.DBus.Properties",
          "GetAll",
          {BasicArgument(std::string(interface))}};
}

// Returns the object path in a variant that holds a struct of a number or text and an object path.
std::optional<std::string> readPath(BodyReader& body) {
  std::optional<std::string> path;
  body.variant([&] {
    body.structure([&] {
      body.skip();
      path = body.text(kMaxTextBytes);
    });
  });
  return path;
}

std::optional<std::uint32_t> readId(BodyReader& body) {
  std::optional<double> number;
  body.variant([&] { number = body.number(); });
  // To the kernel -1 means "no change"; it is not a valid user id.
  if (!number || !(*number >= 0) || *number >= UINT32_MAX) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

std::string readText(BodyReader& body) {
  std::optional<std::string> text;
  body.variant([&] { text = body.text(kMaxTextBytes); });
  return text.value_or("");
}

bool readFlag(BodyReader& body) {
  std::optional<bool> flag;
  body.variant([&] { flag = body.boolean(); });
  return flag.value_or(false);
}

}  // namespace

ActiveUser::ActiveUser(BusConnection& system, std::function<void(BusAddress)> onAddress)
    : system_(system), onAddress_(std::move(onAddress)) {}

void ActiveUser::find() {
  if (!std::exchange(isWatching_, true)) {
    system_.addMatch(kSeatRule, [this](Signal&) { ask(); });
    system_.watch([this] { ask(); }, [](const std::string&) {});
  }
  ask();
}

void ActiveUser::reportNone(std::string reason) {
  onAddress_({"", "no user's session bus: " + std::move(reason), std::nullopt});
}

void ActiveUser::ask() {
  const unsigned round = ++round_;
  system_.call(allPropertiesOf(kSeat, "org.freedesktop.login1.Seat"), kDeadline, [this, round](Reply& reply) {
    if (round != round_) return;
    if (reply.end != CallEnd::kAnswered)
      return reportNone("logind does not report the active user: " + reply.errorText);
    std::string session;
    reply.body.dictionary(kMaxProperties, [&](std::string_view key) {
      if (key == "ActiveSession") session = readPath(reply.body).value_or("");
    });
    if (session.empty() || session == "/") return reportNone("no user is logged in at this machine");
    askSession(session, round);
  });
}

void ActiveUser::askSession(const std::string& path, unsigned round) {
  system_.call(allPropertiesOf(path, "org.freedesktop.login1.Session"), kDeadline,
               [this, round](Reply& reply) {
                 if (round != round_) return;
                 std::string kind;
                 std::string user;
                 bool isRemote = false;
                 reply.body.dictionary(kMaxProperties, [&](std::string_view key) {
                   if (key == "Class") kind = readText(reply.body);
                   if (key == "Remote") isRemote = readFlag(reply.body);
                   if (key == "User") user = readPath(reply.body).value_or("");
                 });
                 // A greeter has a session too, of a user that is not a person.
                 if (kind != "user" || isRemote || user.empty())
                   return reportNone("the active session does not belong to a user");
                 askUser(user, round);
               });
}

void ActiveUser::askUser(const std::string& path, unsigned round) {
  system_.call(allPropertiesOf(path, "org.freedesktop.login1.User"), kDeadline, [this, round](Reply& reply) {
    if (round != round_) return;
    std::optional<std::uint32_t> uid;
    std::optional<std::uint32_t> gid;
    std::string folder;
    reply.body.dictionary(kMaxProperties, [&](std::string_view key) {
      if (key == "UID") uid = readId(reply.body);
      if (key == "GID") gid = readId(reply.body);
      if (key == "RuntimePath") folder = readText(reply.body);
    });
    if (!uid || !gid || !folder.starts_with('/'))
      return reportNone("logind reports no runtime folder for this user");
    onAddress_({addressOfSocket(folder + "/bus"), "", BusUser{*uid, *gid}});
  });
}

}  // namespace hostwire
