// The kernel's list of processes.
#include "windows/process/parse_processes.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>

namespace hostwire {
namespace {

// Offsets in SYSTEM_PROCESS_INFORMATION of x64 (winternl.h names some of them), and its size.
constexpr std::size_t kNext = 0;
constexpr std::size_t kThreadCount = 4;
constexpr std::size_t kCreated = 32;
constexpr std::size_t kUser = 40;
constexpr std::size_t kKernel = 48;
constexpr std::size_t kNameBytes = 56;
constexpr std::size_t kNameAddress = 64;
constexpr std::size_t kPid = 80;
constexpr std::size_t kParentPid = 88;
constexpr std::size_t kWorkingSet = 144;
constexpr std::size_t kReadTransfer = 232;
constexpr std::size_t kWriteTransfer = 240;
constexpr std::size_t kProcessSize = 256;

// In SYSTEM_THREAD_INFORMATION; these follow the process, one after the other.
constexpr std::size_t kThreadState = 68;
constexpr std::size_t kWaitReason = 72;
constexpr std::size_t kThreadSize = 80;
constexpr std::uint32_t kReady = 1;
constexpr std::uint32_t kStandby = 3;
constexpr std::uint32_t kWaiting = 5;
constexpr std::uint32_t kSuspended = 5;

// A file's name has at most 255 characters.
constexpr std::size_t kMaxNameUnits = 1024;

template <class Number>
Number numberAt(std::span<const std::byte> bytes, std::size_t at) {
  Number number{};
  if (at + sizeof number <= bytes.size()) std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

// A LARGE_INTEGER that is not negative.
std::uint64_t largeAt(std::span<const std::byte> bytes, std::size_t at) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, numberAt<std::int64_t>(bytes, at)));
}

void append(std::string& text, std::uint32_t character) {
  const auto put = [&text](std::uint32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (character < 0x80) return put(character);
  if (character < 0x800) {
    put(0xC0U | character >> 6U);
  } else {
    if (character < 0x10000) {
      put(0xE0U | character >> 12U);
    } else {
      put(0xF0U | character >> 18U);
      put(0x80U | (character >> 12U & 0x3FU));
    }
    put(0x80U | (character >> 6U & 0x3FU));
  }
  put(0x80U | (character & 0x3FU));
}

// An unpaired surrogate becomes U+FFFD.
std::string textAt(std::span<const std::byte> bytes, std::size_t at, std::size_t units) {
  std::string text;
  for (std::size_t i = 0; i < units; ++i) {
    const std::uint32_t unit = numberAt<std::uint16_t>(bytes, at + 2 * i);
    const bool isHigh = unit >= 0xD800 && unit < 0xDC00;
    const std::uint32_t next = isHigh && i + 1 < units ? numberAt<std::uint16_t>(bytes, at + 2 * i + 2) : 0;
    if (isHigh && next >= 0xDC00 && next < 0xE000) {
      append(text, 0x10000 + ((unit - 0xD800) << 10U) + (next - 0xDC00));
      ++i;
    } else {
      append(text, unit >= 0xD800 && unit < 0xE000 ? 0xFFFD : unit);
    }
  }
  return text;
}

std::string nameIn(std::span<const std::byte> bytes, std::span<const std::byte> process,
                   std::uint64_t address) {
  const std::size_t units =
      std::min<std::size_t>(numberAt<std::uint16_t>(process, kNameBytes) / 2, kMaxNameUnits);
  const auto at = numberAt<std::uint64_t>(process, kNameAddress);
  if (at < address || at - address > bytes.size() || bytes.size() - (at - address) < units * 2) return {};
  return textAt(bytes, static_cast<std::size_t>(at - address), units);
}

char stateOf(std::span<const std::byte> threads, std::uint32_t count) {
  if (count == 0) return 'Z';
  bool isSuspended = true;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::size_t at = i * kThreadSize;
    if (at + kThreadSize > threads.size()) return 'S';
    const auto state = numberAt<std::uint32_t>(threads, at + kThreadState);
    if (state >= kReady && state <= kStandby) return 'R';
    isSuspended =
        isSuspended && state == kWaiting && numberAt<std::uint32_t>(threads, at + kWaitReason) == kSuspended;
  }
  return isSuspended ? 'T' : 'S';
}

}  // namespace

std::vector<ListedProcess> parseProcesses(std::span<const std::byte> bytes, std::uint64_t address) {
  std::vector<ListedProcess> processes;
  for (auto rest = bytes; rest.size() >= kProcessSize;) {
    ListedProcess process;
    process.pid = numberAt<std::uint32_t>(rest, kPid);
    process.parentPid = numberAt<std::uint32_t>(rest, kParentPid);
    process.threads = numberAt<std::uint32_t>(rest, kThreadCount);
    process.createdTicks = largeAt(rest, kCreated);
    process.cpuTicks = largeAt(rest, kUser) + largeAt(rest, kKernel);
    process.residentBytes = numberAt<std::uint64_t>(rest, kWorkingSet);
    process.readBytes = largeAt(rest, kReadTransfer);
    process.writeBytes = largeAt(rest, kWriteTransfer);
    process.name = nameIn(bytes, rest, address);
    process.state = stateOf(rest.subspan(kProcessSize), process.threads);
    processes.push_back(std::move(process));
    const auto next = numberAt<std::uint32_t>(rest, kNext);
    if (next < kProcessSize || next > rest.size()) break;
    rest = rest.subspan(next);
  }
  return processes;
}

void forgetLaterParents(std::vector<ListedProcess>& processes) {
  std::map<std::uint32_t, std::uint64_t> created;
  for (const ListedProcess& process : processes) created.emplace(process.pid, process.createdTicks);
  for (ListedProcess& process : processes) {
    const auto parent = created.find(process.parentPid);
    if (parent == created.end() || parent->second > process.createdTicks || process.parentPid == process.pid)
      process.parentPid = 0;
  }
}

}  // namespace hostwire
