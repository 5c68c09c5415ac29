// An io_uring for sends only, by its system calls: io_uring_setup(2), io_uring_enter(2).
#pragma once

#include <linux/io_uring.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "linux/kernel/file.h"
#include "linux/streams/send.h"

namespace hostwire {

// Memory shared with the kernel by mmap(2).
class Mapping {
 public:
  Mapping() = default;
  Mapping(int fd, std::size_t bytes, std::uint64_t offset);
  ~Mapping();
  Mapping(Mapping&& other) noexcept : at_(std::exchange(other.at_, nullptr)), bytes_(other.bytes_) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(at_, other.at_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  void* at() const { return at_; }

 private:
  void* at_ = nullptr;
  std::size_t bytes_ = 0;
};

class SendRing {
 public:
  // Throws HostError: ENOSYS, EPERM (kernel.io_uring_disabled, seccomp), EACCES, ENOMEM; ENOTSUP if the
  // kernel (before 5.6) does not support send.
  explicit SendRing(unsigned entries);
  ~SendRing() = default;
  SendRing(const SendRing&) = delete;
  SendRing& operator=(const SendRing&) = delete;

  std::size_t entries() const { return entries_; }
  // Sends at most as many as there are entries; all that were begun are complete when it returns. Returns how
  // many were sent, counted from the first: less than all when the kernel refuses to continue, which is
  // reported once more if asked.
  std::size_t sendAll(std::span<Send> sends);

 private:
  void requireSend() const;
  std::size_t reap(std::span<Send> sends);

  std::size_t entries_ = 0;
  FileDescriptor fd_;
  Mapping rings_;
  Mapping slots_;
  std::uint32_t* sqHead_ = nullptr;
  std::uint32_t* sqTail_ = nullptr;
  std::uint32_t* sqIndexes_ = nullptr;
  std::uint32_t sqMask_ = 0;
  std::uint32_t* cqHead_ = nullptr;
  std::uint32_t* cqTail_ = nullptr;
  std::uint32_t cqMask_ = 0;
  io_uring_cqe* completions_ = nullptr;
};

}  // namespace hostwire
