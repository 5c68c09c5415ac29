// Processes as native/windows gives them to the addon: arguments are parsed back as they were
// joined; processes are launched, listed, asked to close, ended. This program is also the one launched: see
// `main`. Compiled and run by programs.test.ts.
#include <windows.h>
// After windows.h.
#include <shellapi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "checks.h"
#include "host/error.h"
#include "host/process.h"
#include "windows/win32/command_line.h"
#include "windows/win32/unicode.h"

namespace {

using checks::check;
using checks::comes;
using hostwire::EndSignal;
using hostwire::LaunchOptions;
using hostwire::ProcessId;
using hostwire::ProcessReader;
using hostwire::SignalOutcome;
using std::chrono::milliseconds;
using Words = std::vector<std::wstring>;

Words splitAgain(const std::wstring& line) {
  int count = 0;
  wchar_t** const found = CommandLineToArgvW(line.c_str(), &count);
  Words words(found, found + count);
  LocalFree(static_cast<void*>(found));
  return words;
}

void checkCommandLines() {
  const std::wstring program = L"C:\\Program Files\\a b\\app.exe";
  const auto round = [&](const Words& arguments) {
    Words wanted = arguments;
    wanted.insert(wanted.begin(), program);
    const std::wstring line = hostwire::joinCommandLine(program, arguments);
    check(splitAgain(line) == wanted, "taken apart again: " + hostwire::toUtf8(line));
  };
  for (const Words& words :
       {Words{}, Words{L""}, Words{L"", L""}, Words{L"a"}, Words{L"a b"}, Words{L"\""}, Words{L"\\"},
        Words{L"\\\\"}, Words{L"a\\\\ b\\"}, Words{L"\\\""}, Words{L"\\\\\"x\\\\"}, Words{L"\t"},
        Words{L"\v"}, Words{L"%PATH%"}, Words{L"&calc"}, Words{L"\u00e9\u4e2d"}})
    round(words);
  // The same cases each time.
  std::mt19937 random(20'261'121);
  const std::wstring letters = L"\"\"\\\\\\ \t\nab%&|^<>'\u00e9";
  for (int i = 0; i < 20'000; ++i) {
    Words words(random() % 5);
    for (std::wstring& word : words)
      for (auto length = random() % 9; length > 0; --length) word += letters[random() % letters.size()];
    round(words);
  }
}

void checkEnvironments() {
  using hostwire::joinEnvironment;
  const std::wstring zero(1, L'\0');
  check(joinEnvironment({}, {}) == zero + zero, "an empty block");
  check(joinEnvironment({L"b=1", L"=C:=C:\\", L"A=2"}, {L"B=3", L"c="}) ==
            L"=C:=C:\\" + zero + L"A=2" + zero + L"B=3" + zero + L"c=" + zero + zero,
        "those added in place of those of the same name, by name");
}

void checkBatchFiles() {
  for (const wchar_t* name : {L"C:\\a.bat", L"C:\\a.CMD", L"a.bat. .", L"x.Cmd "})
    check(hostwire::isBatchFile(name), "a batch file");
  for (const wchar_t* name : {L"C:\\a.exe", L"bat", L"", L"a.bat.exe", L"cmd.exe", L"...."})
    check(!hostwire::isBatchFile(name), "none");
}

std::string ownPath() {
  std::array<wchar_t, 512> path{};
  return hostwire::toUtf8(std::wstring_view(path.data(), GetModuleFileNameW(nullptr, path.data(), 512)));
}

std::string readText(const std::string& path) {
  std::string text;
  if (FILE* const file = _wfopen(hostwire::toWide(path).c_str(), L"rb")) {
    std::array<char, 4096> buffer{};
    text.assign(buffer.data(), std::fread(buffer.data(), 1, buffer.size(), file));
    std::fclose(file);
  }
  return text;
}

const hostwire::ProcessCounters* findIn(const hostwire::ProcessReading& reading, std::int32_t pid) {
  const auto found = std::find_if(reading.processes.begin(), reading.processes.end(),
                                  [pid](const auto& each) { return each.id.pid == pid; });
  return found == reading.processes.end() ? nullptr : &*found;
}

// Launched, and found in a reading.
ProcessId start(const LaunchOptions& options) {
  const std::int32_t pid = hostwire::launchProcess(options);
  ProcessReader reader({});
  const auto reading = ProcessReader::read(*reader.state(), false);
  const auto* const listed = findIn(reading, pid);
  return listed == nullptr ? ProcessId{pid, 0} : listed->id;
}

std::string codeOf(const LaunchOptions& options) {
  try {
    hostwire::launchProcess(options);
  } catch (const hostwire::HostError& error) {
    return error.symbol();
  }
  return "started";
}

void checkLaunching(const std::string& folder) {
  const std::string file = folder + "\\said by it";
  const ProcessId id = start({ownPath(),
                              {"tell", file, "a b", "\"", "", "\\", "caf\xc3\xa9"},
                              {"HOSTWIRE_A=one two", "path=x"},
                              folder});
  check(id.pid > 0, "it has a number");
  const std::string wanted = "a b|\"||\\|caf\xc3\xa9|HOSTWIRE_A=one two|PATH=x|" + folder + "|console 0\n";
  check(comes([&] { return readText(file) == wanted; }), "it was told: " + readText(file));
  check(hostwire::waitForEnd(std::array{id}, milliseconds{5000}).front(), "it ends");
  checks::equal(codeOf({folder + "\\missing.exe", {}, {}, std::nullopt}), "ERROR_FILE_NOT_FOUND",
                "no such file");
  checks::equal(codeOf({file, {}, {}, std::nullopt}), "ERROR_BAD_EXE_FORMAT", "no program");
  checks::equal(codeOf({ownPath(), {"sleep"}, {}, folder + "\\none"}), "ERROR_DIRECTORY", "no such folder");
  checks::equal(codeOf({folder + "\\a.bat", {"x"}, {}, std::nullopt}), "ERROR_BAD_EXE_FORMAT",
                "no batch file");
  checks::equal(codeOf({ownPath(), {std::string("a\0b", 3)}, {}, std::nullopt}), "ERROR_INVALID_NAME",
                "no text that ends early");
  checks::equal(codeOf({"a\"b.exe", {}, {}, std::nullopt}), "ERROR_INVALID_NAME",
                "no quotation mark in a program's name");
}

void checkReading(const std::string& folder) {
  ProcessReader reader({});
  const auto state = reader.state();
  const ProcessId child = start({ownPath(), {"sleep", "with a space"}, {}, folder});
  const auto reading = ProcessReader::read(*state, false);
  check(std::is_sorted(reading.processes.begin(), reading.processes.end(),
                       [](const auto& a, const auto& b) { return a.id.pid < b.id.pid; }),
        "by number");
  const auto* const own = findIn(reading, static_cast<std::int32_t>(GetCurrentProcessId()));
  const auto* const listed = findIn(reading, child.pid);
  check(own != nullptr && listed != nullptr, "this one and that which it has started");
  if (own == nullptr || listed == nullptr) return;
  check(listed->parentPid == own->id.pid, "its parent");
  check(listed->threads >= 1 && listed->residentBytes > 100'000, "threads and memory");
  checks::equal(listed->name, "process_test.exe", "its name");
  check(reading.hasDisks && own->disk && listed->disk, "what they have transferred");
  check(own->cpuTicks > 0 && reading.machineTicks.value_or(0) > own->cpuTicks, "times");
  check(reading.ticksPerSecond == 10'000'000, "in units of 100 ns");
  const double seconds = static_cast<double>(own->id.startTicks) / 1e7;
  check(seconds > 0 && seconds <= static_cast<double>(reading.clock.sinceBootNs) / 1e9,
        "begun after the machine");
  const auto owner = std::find_if(reading.owners.begin(), reading.owners.end(),
                                  [own](const auto& each) { return each.userId == own->userId; });
  std::array<wchar_t, 128> user{};
  DWORD length = 128;
  GetUserNameW(user.data(), &length);
  check(owner != reading.owners.end(), "an owner");
  if (owner != reading.owners.end()) checks::equal(owner->name, hostwire::toUtf8(user.data()), "this user");
  const auto details = ProcessReader::readDetails(*state, child.pid);
  check(details.has_value(), "details");
  if (details) {
    checks::equal(details->path.value_or(""), ownPath(), "its program");
    check(details->command.size() == 3 && details->command.back() == "with a space", "its arguments");
    check(details->folder.value_or("").find(folder) == 0, "its folder: " + details->folder.value_or("none"));
    checks::equal(details->owner.value_or(""), hostwire::toUtf8(user.data()), "whose it is");
  }
  check(!ProcessReader::readDetails(*state, 7), "nobody has an odd number");
  const auto paths = ProcessReader::readPaths(*state, std::array{child, ProcessId{child.pid, 1}});
  checks::equal(paths.front().value_or(""), ownPath(), "a path");
  check(!paths.back(), "none of another one with its number");
  reader.ask(milliseconds{0});
  check(comes([&] { return reader.latest() != nullptr; }), "the reader's own reading");
  const auto latest = reader.latest();
  check(latest->owners.empty() && findIn(*latest, child.pid) != nullptr, "without owners");
  check(hostwire::signalProcess(child, EndSignal::kKill) == SignalOutcome::kSent, "ended");
}

void checkEnding(const std::string& folder) {
  check(!hostwire::whyNoProcessControl({}), "the machine's own");
  check(hostwire::whyNoProcessControl({"/x", "/sys", ""}).has_value(), "not a fixture's");
  ProcessReader reader({});
  const auto state = reader.state();
  const ProcessId child = start({ownPath(), {"sleep"}, {}, folder});
  const ProcessId other{child.pid, child.startTicks + 1};
  for (const EndSignal signal :
       {EndSignal::kTerminate, EndSignal::kKill, EndSignal::kStop, EndSignal::kContinue})
    check(hostwire::signalProcess(other, signal) == SignalOutcome::kGone,
          "another one with its number is not reached");
  check(hostwire::signalProcess(child, EndSignal::kTerminate) == SignalOutcome::kSent, "asked");
  check(!hostwire::waitForEnd(std::array{child}, milliseconds{300}).front(),
        "without a window it can't be asked");
  check(hostwire::signalProcess(child, EndSignal::kStop) == SignalOutcome::kSent, "stopped");
  check(comes([&] {
          const auto reading = ProcessReader::read(*state, false);
          const auto* const listed = findIn(reading, child.pid);
          return listed != nullptr && (listed->state == 'T' || listed->state == 'S' || listed->state == 'R');
        }),
        "it is still there");
  check(hostwire::signalProcess(child, EndSignal::kContinue) == SignalOutcome::kSent, "and goes on");
  const HANDLE held = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, static_cast<DWORD>(child.pid));
  check(hostwire::signalProcess(child, EndSignal::kKill) == SignalOutcome::kSent, "forced");
  check(hostwire::waitForEnd(std::array{child, other}, milliseconds{5000}) == std::vector<bool>({true, true}),
        "it has ended; who is not there has too");
  check(hostwire::signalProcess(child, EndSignal::kKill) == SignalOutcome::kGone,
        "ended, though its handle is held");
  CloseHandle(held);
  check(hostwire::signalProcess({999'999'996, 1}, EndSignal::kKill) == SignalOutcome::kGone, "nobody");
  // Many in one call: Windows itself waits for 64.
  std::vector<ProcessId> many(70, ProcessId{static_cast<std::int32_t>(GetCurrentProcessId()), 0});
  const auto reading = ProcessReader::read(*state, false);
  for (ProcessId& each : many) each = findIn(reading, each.pid)->id;
  const auto ended = hostwire::waitForEnd(many, milliseconds{50});
  check(std::none_of(ended.begin(), ended.end(), [](bool is) { return is; }), "none of seventy");
}

// With a window that a person could close, where there is a display.
void checkWindow(const std::string& folder) {
  const std::string file = folder + "\\window";
  const ProcessId child = start({ownPath(), {"window", file}, {}, folder});
  check(comes([&] { return readText(file) == "open\n"; }), "a window");
  const HANDLE held =
      OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION | SYNCHRONIZE, FALSE, static_cast<DWORD>(child.pid));
  check(hostwire::signalProcess(child, EndSignal::kTerminate) == SignalOutcome::kSent, "asked to close");
  check(hostwire::waitForEnd(std::array{child}, milliseconds{5000}).front(), "it ends");
  DWORD code = 0;
  GetExitCodeProcess(held, &code);
  CloseHandle(held);
  check(code == 7, "of its own accord: " + std::to_string(code));
}

// ---- The launched program
// -----------------------------------------------------------------------------------------

int tell(const Words& words) {
  FILE* const file = _wfopen((words.at(2) + L".new").c_str(), L"wb");
  const auto put = [file](const std::wstring& text) {
    std::fprintf(file, "%s|", hostwire::toUtf8(text).c_str());
  };
  for (std::size_t i = 3; i < words.size(); ++i) put(words[i]);
  for (const wchar_t* name : {L"HOSTWIRE_A", L"PATH"}) {
    const wchar_t* const value = _wgetenv(name);
    put(std::wstring(name) + L"=" + (value == nullptr ? L"-" : value));
  }
  std::array<wchar_t, 512> folder{};
  GetCurrentDirectoryW(512, folder.data());
  put(folder.data());
  std::fprintf(file, "console %d\n", GetConsoleWindow() != nullptr ? 1 : 0);
  std::fclose(file);
  _wrename((words.at(2) + L".new").c_str(), words.at(2).c_str());
  return 0;
}

LRESULT CALLBACK onMessage(HWND window, UINT message, WPARAM w, LPARAM l) {
  if (message == WM_CLOSE) PostQuitMessage(7);
  return message == WM_CLOSE ? 0 : DefWindowProcW(window, message, w, l);
}

int showWindow(const Words& words) {
  WNDCLASSW windowClass{};
  windowClass.lpfnWndProc = onMessage;
  windowClass.lpszClassName = L"hostwire-test";
  RegisterClassW(&windowClass);
  const HWND window = CreateWindowW(L"hostwire-test", L"test", WS_OVERLAPPEDWINDOW | WS_VISIBLE, 0, 0, 100,
                                    100, nullptr, nullptr, nullptr, nullptr);
  FILE* const file = _wfopen(words.at(2).c_str(), L"wb");
  std::fprintf(file, window == nullptr ? "none\n" : "open\n");
  std::fclose(file);
  MSG message{};
  while (window != nullptr && GetMessageW(&message, nullptr, 0, 0) > 0) DispatchMessageW(&message);
  return static_cast<int>(message.wParam);
}

}  // namespace

int wmain(int count, wchar_t** arguments) {
  const Words words(arguments, arguments + count);
  const std::wstring mode = count > 1 ? words[1] : L"";
  if (mode == L"tell") return tell(words);
  if (mode == L"window") return showWindow(words);
  if (mode == L"sleep") {
    std::this_thread::sleep_for(std::chrono::seconds{60});
    return 0;
  }
  const std::string folder = hostwire::toUtf8(mode);
  checkCommandLines();
  checkEnvironments();
  checkBatchFiles();
  checkLaunching(folder);
  checkReading(folder);
  checkEnding(folder);
  if (count > 2) checkWindow(folder);
  return checks::report();
}
