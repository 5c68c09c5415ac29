// The memory that is shared with the kernel, as io_uring(7) lays it out.
#include "linux/streams/ring.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "host/error.h"

namespace hostwire {
namespace {

// The numbers are the same on all architectures since 5.1; older headers lack the names.
constexpr long kSetup = 425;
constexpr long kEnter = 426;
constexpr long kRegister = 427;
constexpr unsigned kProbedOperations = 64;
// Maximum number of refusals in a row, after which the kernel is not asked again: it refuses occasionally
// under memory pressure.
constexpr int kMaxRefusals = 8;

std::uint32_t loadAcquire(const std::uint32_t* at) { return __atomic_load_n(at, __ATOMIC_ACQUIRE); }
void storeRelease(std::uint32_t* at, std::uint32_t value) { __atomic_store_n(at, value, __ATOMIC_RELEASE); }

}  // namespace

Mapping::Mapping(int fd, std::size_t bytes, std::uint64_t offset)
    : at_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd,
               static_cast<off_t>(offset))),
      bytes_(bytes) {
  if (at_ != MAP_FAILED) return;
  at_ = nullptr;
  throw HostError(errno, "map an io_uring");
}

Mapping::~Mapping() {
  if (at_ != nullptr) munmap(at_, bytes_);
}

void SendRing::requireSend() const {
  // The head is followed by one entry per operation, each of the head's alignment.
  std::array<io_uring_probe_op, kProbedOperations + sizeof(io_uring_probe) / sizeof(io_uring_probe_op)>
      answer{};
  static_assert(sizeof(io_uring_probe) % sizeof(io_uring_probe_op) == 0);
  const io_uring_probe_op* const operations = answer.data() + answer.size() - kProbedOperations;
  const bool isProbed =
      syscall(kRegister, fd_.get(), IORING_REGISTER_PROBE, answer.data(), kProbedOperations) == 0;
  if (!isProbed || (operations[IORING_OP_SEND].flags & IO_URING_OP_SUPPORTED) == 0)
    throw HostError(ENOTSUP, "send by io_uring");
}

SendRing::SendRing(unsigned entries) {
  io_uring_params params{};
  fd_.reset(static_cast<int>(syscall(kSetup, entries, &params)));
  if (!fd_.isOpen()) throw HostError(errno, "io_uring_setup");
  if ((params.features & IORING_FEAT_SINGLE_MMAP) == 0) throw HostError(ENOTSUP, "send by io_uring");
  requireSend();
  entries_ = params.sq_entries;
  const std::size_t sqBytes = params.sq_off.array + params.sq_entries * sizeof(std::uint32_t);
  const std::size_t cqBytes = params.cq_off.cqes + params.cq_entries * sizeof(io_uring_cqe);
  rings_ = Mapping(fd_.get(), std::max(sqBytes, cqBytes), IORING_OFF_SQ_RING);
  slots_ = Mapping(fd_.get(), params.sq_entries * sizeof(io_uring_sqe), IORING_OFF_SQES);
  char* const base = static_cast<char*>(rings_.at());
  const auto wordAt = [base](std::uint32_t offset) {
    return reinterpret_cast<std::uint32_t*>(base + offset);
  };
  sqHead_ = wordAt(params.sq_off.head);
  sqTail_ = wordAt(params.sq_off.tail);
  sqMask_ = *wordAt(params.sq_off.ring_mask);
  sqIndexes_ = wordAt(params.sq_off.array);
  cqHead_ = wordAt(params.cq_off.head);
  cqTail_ = wordAt(params.cq_off.tail);
  cqMask_ = *wordAt(params.cq_off.ring_mask);
  completions_ = reinterpret_cast<io_uring_cqe*>(base + params.cq_off.cqes);
}

std::size_t SendRing::reap(std::span<Send> sends) {
  std::uint32_t head = *cqHead_;
  const std::uint32_t tail = loadAcquire(cqTail_);
  const std::size_t count = tail - head;
  for (; head != tail; ++head) {
    const io_uring_cqe& completion = completions_[head & cqMask_];
    sends[completion.user_data].result = completion.res;
  }
  storeRelease(cqHead_, head);
  return count;
}

std::size_t SendRing::sendAll(std::span<Send> sends) {
  auto* const slots = static_cast<io_uring_sqe*>(slots_.at());
  const std::uint32_t begin = *sqTail_;
  const auto wanted = static_cast<std::uint32_t>(sends.size());
  for (std::uint32_t at = 0; at < wanted; ++at) {
    const std::uint32_t slot = (begin + at) & sqMask_;
    io_uring_sqe& entry = slots[slot];
    entry = {};
    entry.opcode = IORING_OP_SEND;
    entry.fd = sends[at].fd;
    entry.addr = reinterpret_cast<std::uintptr_t>(sends[at].bytes.data());
    entry.len = static_cast<std::uint32_t>(sends[at].bytes.size());
    // With MSG_DONTWAIT the kernel completes it during the call: a full socket is not waited for.
    entry.msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL;
    entry.user_data = at;
    sqIndexes_[slot] = slot;
  }
  storeRelease(sqTail_, begin + wanted);
  std::size_t complete = 0;
  std::uint32_t begun = 0;
  for (int refusals = 0; complete < wanted && refusals < kMaxRefusals;) {
    const std::uint32_t left = wanted - begun;
    const long entered = syscall(kEnter, fd_.get(), left, wanted - static_cast<std::uint32_t>(complete),
                                 IORING_ENTER_GETEVENTS, nullptr, 0);
    if (entered < 0 && errno != EINTR) ++refusals;
    begun = loadAcquire(sqHead_) - begin;
    complete += reap(sends);
  }
  // Entries that the kernel has not seen are taken back; those that it has begun refer to the caller's bytes
  // until they are complete.
  storeRelease(sqTail_, begin + begun);
  while (complete < begun) {
    syscall(kEnter, fd_.get(), 0, begun - static_cast<std::uint32_t>(complete), IORING_ENTER_GETEVENTS,
            nullptr, 0);
    complete += reap(sends);
  }
  return begun;
}

}  // namespace hostwire
