// Reading a file that another program has named, with its user's rights: whatever this process may read, only
// what that user may read comes out, and only the thread that reads has those rights. For root. Prints each
// failed check and exits 1 if there was one. Run by art-file.test.ts, also under sanitizers.
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "host/thread.h"
#include "linux/bus/as_user.h"
#include "linux/media/art_file.h"
#include "linux/media/player_users.h"

namespace {

using namespace hostwire;

// Users and groups by number only: none of them has to exist.
constexpr std::uint32_t kAnna = 7001;
constexpr std::uint32_t kBert = 7002;
constexpr std::uint32_t kMusic = 7100;
constexpr std::size_t kMaxBytes = 1U << 20U;
const UserRights anna{kAnna, kAnna, {}};

int checks = 0;
int failures = 0;

void check(bool isTrue, const std::string& what) {
  ++checks;
  if (isTrue) return;
  ++failures;
  std::printf("failed: %s\n", what.c_str());
}

// On a thread of its own, as the service does it. The text of the exception, or "".
std::string onThread(const std::function<void()>& work) {
  std::promise<std::string> promise;
  auto reason = promise.get_future();
  const bool isStarted = startThread([&] {
    std::string text;
    try {
      work();
    } catch (const std::exception& error) {
      text = error.what();
    }
    promise.set_value(text);
  });
  return isStarted ? reason.get() : "no thread";
}

struct Outcome {
  std::string content;
  std::string reason;
};

Outcome readAs(const UserRights& user, const std::string& path, std::size_t maxBytes = kMaxBytes) {
  Outcome outcome;
  outcome.reason = onThread([&] { outcome.content = readFileAs(user, path, maxBytes); });
  return outcome;
}

void refused(const std::string& path, const std::string& reason, const std::string& what) {
  const Outcome outcome = readAs(anna, path);
  check(outcome.content.empty(), what + ": nothing is read");
  check(outcome.reason.find(reason) != std::string::npos, what + ": " + outcome.reason);
}

// The ids of a thread: "real effective saved file", then the same of groups.
std::string idsOf(const std::string& thread) {
  std::ifstream status("/proc/self/task/" + thread + "/status");
  std::string ids;
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("Uid:") || line.starts_with("Gid:")) ids += line.substr(5) + ";";
  std::replace(ids.begin(), ids.end(), '\t', ' ');
  return ids;
}

class Files {
 public:
  Files() {
    std::string name = "/tmp/hostwire-art-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) std::abort();
    folder_ = name;
    chmod(folder_.c_str(), 0755);
  }
  ~Files() { std::filesystem::remove_all(folder_); }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::string folder(const std::string& name, mode_t mode) const {
    mkdir(path(name).c_str(), 0700);
    chmod(path(name).c_str(), mode);
    return path(name);
  }
  std::string place(const std::string& name, const std::string& content, std::uint32_t uid, std::uint32_t gid,
                    mode_t mode) const {
    std::ofstream(path(name)) << content;
    return give(path(name), uid, gid, mode);
  }
  std::string link(const std::string& name, const std::string& target) const {
    std::filesystem::create_symlink(target, path(name));
    return path(name);
  }
  static std::string give(const std::string& path, std::uint32_t uid, std::uint32_t gid, mode_t mode) {
    if (chown(path.c_str(), uid, gid) != 0 || chmod(path.c_str(), mode) != 0) std::abort();
    return path;
  }

 private:
  std::string folder_;
};

void readsWhatTheUserMay(const Files& files) {
  const std::string own = files.place("own", "hers", kAnna, kAnna, 0600);
  check(readAs(anna, own).content == "hers", "her own file");
  check(readAs(anna, files.link("to-own", own)).content == "hers", "a link to it");
  check(readAs(anna, files.place("all", "anybody's", 0, 0, 0604)).content == "anybody's", "a file for all");
  const std::string shared = files.place("shared", "the group's", 0, kMusic, 0640);
  check(readAs({kAnna, kAnna, {kMusic}}, shared).content == "the group's", "a file of one of her groups");
  check(readAs({kAnna, kMusic, {}}, shared).content == "the group's", "a file of her first group");
  refused(shared, "Permission denied", "a file of a group that she is not in");
  check(readAs({0, 0, {}}, files.place("root", "root's", 0, 0, 0600)).content == "root's", "root's, for root");

  const std::string longest(kMaxBytes, 'x');
  check(readAs(anna, files.place("longest", longest, kAnna, kAnna, 0600)).content == longest, "1 MiB");
  refused(files.place("longer", longest + "x", kAnna, kAnna, 0600), "more than 1048576 bytes", "1 MiB and a byte");
}

void refusesTheRest(const Files& files) {
  const std::string secret = files.place("secret", "root's", 0, 0, 0600);
  refused(secret, "Permission denied", "root's file");
  refused(files.place("wheel", "root's", kBert, 0, 0640), "Permission denied", "a file of root's group");
  refused(files.link("to-secret", secret), "Permission denied", "a link to it");
  const std::string closed = files.folder("closed", 0700);
  const std::string hidden = files.place("closed/hidden", "for all, in root's folder", 0, 0, 0644);
  refused(hidden, "Permission denied", "a file for all in a folder that she may not enter");

  const int open = ::open(hidden.c_str(), O_RDONLY | O_CLOEXEC);
  const std::string descriptor = "fd/" + std::to_string(open);
  for (const char* self : {"/proc/self/", "/proc/thread-self/"}) {
    refused(self + descriptor, "Too many levels of symbolic links", self + std::string("fd"));
    refused(self + std::string("environ"), "the file is empty", self + std::string("environ"));
    refused(self + std::string("root") + secret, "Too many levels", self + std::string("root"));
  }
  refused(files.link("to-descriptor", "/proc/self/" + descriptor), "Too many levels", "a link to a descriptor");
  if (chdir(closed.c_str()) != 0) std::abort();
  refused("/proc/self/cwd/hidden", "Too many levels", "the folder this process is in");
  refused("hidden", "not a path", "a relative path");
  if (chdir("/") != 0) std::abort();
  close(open);

  mkfifo(files.path("pipe").c_str(), 0600);
  refused(Files::give(files.path("pipe"), kAnna, kAnna, 0600), "not a regular file", "a pipe");
  refused("/dev/zero", "not a regular file", "a device");
  refused(files.folder("hers", 0755), "not a regular file", "a folder");
  refused(files.place("empty", "", kAnna, kAnna, 0600), "empty", "an empty file");
  refused(files.path("none"), "No such file", "no file");
  refused(files.path(std::string("own\0x", 5)), "not a path", "a path with a zero byte");
  refused("", "not a path", "no path");
}

void keepsOtherThreads(const Files& files) {
  const std::string secret = files.place("other", "root's", 0, 0, 0600);
  const auto readSecret = [&] {
    std::string text;
    std::getline(std::ifstream(secret), text);
    return text;
  };
  const std::string own = idsOf(std::to_string(getpid()));
  std::promise<pid_t> isUser;
  std::promise<void> mayEnd;
  std::thread user([&] {
    const UserThread asUser(anna);
    isUser.set_value(gettid());
    mayEnd.get_future().wait();
  });
  const std::string name = std::to_string(isUser.get_future().get());
  check(idsOf(name) == "0 7001 0 7001;0 7001 0 7001;", "the ids of that thread: " + idsOf(name));
  check(own == "0 0 0 0;0 0 0 0;" && idsOf(std::to_string(getpid())) == own, "this one has root's: " + own);
  check(readSecret() == "root's", "and reads root's file");
  check(onThread([&] { check(readSecret() == "root's", "so does a thread that is new"); }).empty(), "a new thread");
  mayEnd.set_value();
  user.join();
  check(prctl(PR_GET_DUMPABLE) == 1, "core dumps are possible again");

  std::atomic<bool> isOver{false};
  std::atomic<int> wrong{0};
  std::thread watcher([&] {
    while (!isOver)
      if (readSecret() != "root's" || geteuid() != 0) ++wrong;
  });
  for (int i = 0; i < 200; ++i) refused(secret, "Permission denied", "one of many readings");
  // The bus thread changes ids, too.
  for (int i = 0; i < 200; ++i) {
    std::thread bus([] { asUser({kBert, kBert}, [] { return 0; }); });
    readAs(anna, secret);
    bus.join();
  }
  isOver = true;
  watcher.join();
  check(wrong == 0 && prctl(PR_GET_DUMPABLE) == 1, "none of it was seen elsewhere");
}

void takesRightsOrFails(const Files& files) {
  const std::string secret = files.place("third", "root's", 0, 0, 0600);
  check(readAs({UINT32_MAX, kAnna, {}}, secret).reason.find("Invalid argument") != std::string::npos, "no user");
  check(readAs({kAnna, UINT32_MAX, {}}, secret).reason.find("Invalid argument") != std::string::npos, "no group");
  // From here on like a service that is not root.
  const std::string berts = files.place("berts", "his", kBert, kBert, 0600);
  Outcome hers;
  Outcome his;
  onThread([&] {
    const UserThread asBert({kBert, kBert, {}});
    try {
      hers.content = readFileAs(anna, files.path("own"), kMaxBytes);
    } catch (const std::exception& error) {
      hers.reason = error.what();
    }
    his.content = readFileAs({kBert, kAnna, {kMusic}}, berts, kMaxBytes);
  });
  check(hers.content.empty() && hers.reason.find("Operation not permitted") != std::string::npos,
        "a user may not take another's rights: " + hers.reason);
  check(his.content == "his", "and needs none for its own files");

  Outcome kept;
  kept.reason = onThread([&] {
    if (prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP) != 0) throw std::runtime_error("no such setting");
    kept.content = readFileAs(anna, secret, kMaxBytes);
  });
  check(kept.content.empty() && kept.reason.find("Permission denied") != std::string::npos,
        "no capability stays where a change of ids would keep them: " + kept.reason);
}

// A service that may take the groups of others and not their ids.
void failsHalfWay(const Files& files) {
  const std::string reason = onThread([&] {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> own{};
    syscall(SYS_capget, &header, own.data());
    own[0].effective &= ~(1U << CAP_SETUID);
    syscall(SYS_capset, &header, own.data());
    readFileAs(anna, files.path("own"), kMaxBytes);
  });
  check(reason.find("Operation not permitted") != std::string::npos, "half of the rights are none: " + reason);
  check(prctl(PR_GET_DUMPABLE) == 1, "core dumps are possible again, also then");
}

void knowsItsPeer(const Files& files) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  files.path("socket").copy(address.sun_path, sizeof address.sun_path - 1);
  const auto* name = reinterpret_cast<const sockaddr*>(&address);
  const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::vector<std::uint32_t> groups;
  for (std::uint32_t group = 1; group <= 200; ++group) groups.push_back(8000 + group);
  check(bind(listener, name, sizeof address) == 0, "a socket");
  onThread([&] {
    const UserThread asUser({kAnna, kBert, groups});
    listen(listener, 1);
  });
  const int connected = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  check(connect(connected, name, sizeof address) == 0, "a connection");
  const auto peer = rightsOfPeer(connected);
  check(peer && peer->uid == kAnna && peer->gid == kBert && peer->groups == groups, "who listens, with all groups");
  close(connected);
  close(listener);
  const int tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  check(!rightsOfPeer(tcp) && !rightsOfPeer(-1), "nobody on other sockets");
  close(tcp);
}

}  // namespace

int main() {
  if (geteuid() != 0) {
    std::printf("only root may take the ids of others\n");
    return 1;
  }
  const Files files;
  readsWhatTheUserMay(files);
  refusesTheRest(files);
  keepsOtherThreads(files);
  takesRightsOrFails(files);
  failsHalfWay(files);
  knowsItsPeer(files);
  std::printf("%s: %d checks\n", failures == 0 ? "all well" : "failed", checks);
  return failures == 0 ? 0 : 1;
}
