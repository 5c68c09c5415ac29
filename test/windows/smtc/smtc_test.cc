// The media sessions as native/windows gives them to the addon, with fake_smtc.dll in place of Windows'
// own: players, commands, refusals, changes. Its argument: the path of that DLL. Compiled and run by
// smtc.test.ts.
#include <windows.h>

#include "rig.h"

#include "windows/media/session_zero.h"

// In place of native/windows/media/session_zero.cc.
namespace hostwire {
bool isInSessionZero() { return smtc_checks::isZero; }
}  // namespace hostwire

namespace smtc_checks {

FakeSmtcCommand command = nullptr;
FakeSmtcCount countOf = nullptr;
FakeSmtcLive liveObjects = nullptr;
FakeSmtcPosition lastPosition = nullptr;
bool isZero = false;

namespace {

constexpr const wchar_t* kKey =
    L"Software\\Microsoft\\WindowsRuntime\\ActivatableClassId\\"
    L"Windows.Media.Control.GlobalSystemMediaTransportControlsSessionManager";

template <class Function>
void find(HMODULE module, const char* name, Function& function) {
  function = reinterpret_cast<Function>(reinterpret_cast<void*>(GetProcAddress(module, name)));
}

}  // namespace

bool loadFake(const wchar_t* path) {
  const HMODULE fake = LoadLibraryW(path);
  check(fake != nullptr, "fake_smtc.dll is there");
  if (fake == nullptr) return false;
  find(fake, "fakeSmtcCommand", command);
  find(fake, "fakeSmtcCount", countOf);
  find(fake, "fakeSmtcLive", liveObjects);
  find(fake, "fakeSmtcPosition", lastPosition);
  return true;
}

void enroll(const std::wstring& path) {
  HKEY key = nullptr;
  check(RegCreateKeyExW(HKEY_LOCAL_MACHINE, kKey, 0, nullptr, 0, KEY_WRITE, nullptr, &key, nullptr) == 0,
        "the class can be enrolled");
  RegSetValueExW(key, L"DllPath", 0, REG_SZ, reinterpret_cast<const BYTE*>(path.c_str()),
                 static_cast<DWORD>((path.size() + 1) * sizeof(wchar_t)));
  RegCloseKey(key);
}

void strikeOut() { RegDeleteKeyW(HKEY_LOCAL_MACHINE, kKey); }

void say(const std::string& text) { check(command(text.c_str()), text); }

void makeTwo() {
  say("add a SpotifyAB.SpotifyMusic_zpdnekdrzrea0!Spotify");
  say("set a status 5");
  say("set a title Blue in Green");
  say("set a artist Miles Davis");
  say("set a album Kind of Blue");
  say("set a start 10000000");
  say("set a end 3380000000");
  say("set a position 130000000");
  say("set a rate 1");
  say("set a shuffle 1");
  say("set a repeat 2");
  say("add b C:\\Program Files\\VideoLAN\\VLC\\vlc.exe");
  say("set b status 3");
  say("set b albumartist Various");
  say("set b title <D800>x");
}

bool isCannot(const MediaPlayer& player, MediaVerb verb) {
  return (player.cannot >> static_cast<unsigned>(verb) & 1U) != 0;
}

}  // namespace smtc_checks

using namespace smtc_checks;

int wmain(int, wchar_t** arguments) {
  strikeOut();
  checkMissing();
  enroll(arguments[1]);
  if (!loadFake(arguments[1])) return checks::report();
  checkSessionZero();
  {
    Rig rig;
    check(!rig.read().absence && rig.read().players.empty(), "no sessions: no players, and nothing is wrong");
  }
  makeTwo();
  say("current a");
  {
    Rig rig;
    checkReading(rig);
    checkCommands(rig);
    checkRefusals(rig);
    checkNews(rig);
    checkHanging(rig);
    checkStuck(rig);
    checkBroken(rig);
    checkComings(rig);
  }
  checkSlow();
  checkManager();
  checkEnds();
  check(countOf("unexpected") == 0, "no slot is called that nobody should call");
  check(countOf("no handler") == 0, "every handler is what it is asked for");
  check(countOf("no token") == 0, "every token is one that was given");
  checkNothingKept();
  return checks::report();
}
