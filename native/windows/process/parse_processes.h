// The kernel's list of processes (SystemProcessInformation of x64), as bytes. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hostwire {

// Times in units of 100 ns; `createdTicks` since 1601.
struct ListedProcess {
  std::uint32_t pid = 0;
  std::uint32_t parentPid = 0;
  std::uint32_t threads = 0;
  char state = 'S';  // R: a thread runs or could; T: all are suspended; Z: no thread is left; S: they wait
  std::uint64_t createdTicks = 0;
  std::uint64_t cpuTicks = 0;
  std::uint64_t residentBytes = 0;
  std::uint64_t readBytes = 0;  // transferred by its read and write calls: files, pipes and devices
  std::uint64_t writeBytes = 0;
  std::string name;  // valid UTF-8; empty: the idle process
};

// `address`: where the kernel has written the bytes; the names in them are given as addresses.
std::vector<ListedProcess> parseProcesses(std::span<const std::byte> bytes, std::uint64_t address);

// A parent's number may belong to another process by now, which started after its child: the parent is then
// unknown.
void forgetLaterParents(std::vector<ListedProcess>& processes);

}  // namespace hostwire
