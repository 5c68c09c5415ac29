// Media keys through SendInput: the last resort where no player can be commanded.
#include <windows.h>

#include <array>

#include "host/error.h"
#include "host/media.h"
#include "windows/media/send_input.h"
#include "windows/media/session_zero.h"

namespace hostwire {
namespace {

// In the order of MediaVerb. Windows keyboards have one key for play and pause.
constexpr std::array<WORD, 6> kKeys{VK_MEDIA_PLAY_PAUSE, VK_MEDIA_PLAY_PAUSE, VK_MEDIA_PLAY_PAUSE,
                                    VK_MEDIA_STOP,       VK_MEDIA_NEXT_TRACK, VK_MEDIA_PREV_TRACK};

INPUT eventOf(WORD key, DWORD flags) {
  INPUT input{};
  input.type = INPUT_KEYBOARD;
  input.ki.wVk = key;
  input.ki.dwFlags = flags;
  return input;
}

}  // namespace

struct MediaKeys::State {};

MediaKeys::MediaKeys(const Roots&) {}
MediaKeys::~MediaKeys() = default;

std::optional<Obstacle> MediaKeys::absence() const {
  if (isInSessionZero())
    return Obstacle{"the service runs in session 0, where no program receives keys",
                    "run it as the user who sits at the machine"};
  return std::nullopt;
}

// A keyboard always exists.
bool MediaKeys::open() { return false; }

void MediaKeys::press(MediaVerb verb) {
  const auto index = static_cast<std::size_t>(verb);
  if (index >= kKeys.size()) throw HostError(ERROR_INVALID_PARAMETER, "press a media key");
  std::array<INPUT, 2> inputs{eventOf(kKeys.at(index), 0), eventOf(kKeys.at(index), KEYEVENTF_KEYUP)};
  if (sendInput(inputs) != inputs.size()) throw HostError(static_cast<int>(GetLastError()), "SendInput");
}

}  // namespace hostwire
