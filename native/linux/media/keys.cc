// Media keys through /dev/uinput: the last resort where no player can be commanded.
#include <fcntl.h>
#include <linux/uinput.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include "host/error.h"
#include "linux/media/keys.h"

namespace hostwire {
namespace {

// In the order of MediaVerb. The two CD keys distinguish play and pause; the others are on every keyboard.
constexpr std::array<int, 6> kKeys{KEY_PLAYCD, KEY_PAUSECD,  KEY_PLAYPAUSE,
                                   KEY_STOPCD, KEY_NEXTSONG, KEY_PREVIOUSSONG};

constexpr std::string_view kName = "hostwire media keys";

}  // namespace

const UinputCalls& systemUinput() {
  static constexpr UinputCalls kCalls{
      // Uses the effective ids, like open(2); access(2) uses the real ones.
      [](const char* path) { return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS); },
      // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): open has no other form.
      [](const char* path) { return ::open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC); },
      // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): nor has ioctl.
      [](int fd, unsigned long request, int value) { return ioctl(fd, request, value); },
      // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg)
      [](int fd, unsigned long request, const void* argument) { return ioctl(fd, request, argument); },
      [](int fd, const void* bytes, std::size_t count) { return ::write(fd, bytes, count); },
      [](int fd) { static_cast<void>(::close(fd)); },
  };
  return kCalls;
}

UinputKeyboard::~UinputKeyboard() {
  // Closing destroys the device (uinput.rst).
  if (fd_ >= 0) calls_.close(fd_);
}

std::optional<std::string> UinputKeyboard::absence() const {
  if (fd_ >= 0 || calls_.access(path_.c_str()) == 0) return std::nullopt;
  return path_ + " cannot be opened for media keys: " + std::generic_category().message(errno);
}

bool UinputKeyboard::open() {
  if (fd_ >= 0) return false;
  const int fd = calls_.open(path_.c_str());
  if (fd < 0) throw HostError(errno, "open " + path_);
  const auto require = [&](int result) {
    if (result >= 0) return;
    const int code = errno;
    calls_.close(fd);
    throw HostError(code, "make a keyboard with " + path_);
  };
  require(calls_.set(fd, UI_SET_EVBIT, EV_KEY));
  for (const int key : kKeys) require(calls_.set(fd, UI_SET_KEYBIT, key));
  uinput_setup setup{};
  setup.id.bustype = BUS_VIRTUAL;
  static_assert(kName.size() < sizeof setup.name);
  std::memcpy(static_cast<char*>(setup.name), kName.data(), kName.size());
  require(calls_.control(fd, UI_DEV_SETUP, &setup));
  require(calls_.set(fd, UI_DEV_CREATE, 0));
  fd_ = fd;
  return true;
}

void UinputKeyboard::press(MediaVerb verb) {
  const auto index = static_cast<std::size_t>(verb);
  if (index >= kKeys.size()) throw HostError(EINVAL, "press a media key");
  static_cast<void>(open());
  const auto code = static_cast<__u16>(kKeys.at(index));
  // The kernel fills in the time. A single write keeps press, release and synchronisation together.
  std::array<input_event, 4> events{};
  events[0].type = EV_KEY;
  events[0].code = code;
  events[0].value = 1;
  events[1].type = EV_SYN;
  events[2].type = EV_KEY;
  events[2].code = code;
  events[3].type = EV_SYN;
  const ssize_t written = calls_.write(fd_, events.data(), sizeof events);
  if (written == static_cast<ssize_t>(sizeof events)) return;
  const int error = written < 0 ? errno : EIO;
  calls_.close(std::exchange(fd_, -1));
  throw HostError(error, "write to " + path_);
}

struct MediaKeys::State {
  UinputKeyboard keyboard;
};

MediaKeys::MediaKeys(const Roots& roots)
    : state_(new State{UinputKeyboard(roots.files + "/dev/uinput", systemUinput())}) {}
MediaKeys::~MediaKeys() = default;
std::optional<Obstacle> MediaKeys::absence() const {
  auto reason = state_->keyboard.absence();
  if (!reason) return std::nullopt;
  return Obstacle{std::move(*reason),
                  "load the module uinput, and give the service access to it with a udev rule "
                  "(packaging/udev/60-hostwire-uinput.rules)"};
}
bool MediaKeys::open() { return state_->keyboard.open(); }
void MediaKeys::press(MediaVerb verb) { state_->keyboard.press(verb); }

}  // namespace hostwire
