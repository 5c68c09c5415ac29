// Replaces the program's operator new. malloc is unchanged, so that a sanitizer sees each block.
#include "fuzz/failing_new.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::int64_t> countdown{0};  // at 1 the next one fails; at 0 and below none does

bool mustFail() noexcept { return countdown.load() > 0 && countdown.fetch_sub(1) == 1; }

}  // namespace

namespace hostwire {

void failAllocation(std::uint64_t nth) { countdown = static_cast<std::int64_t>(nth); }

bool stopFailing() { return countdown.exchange(0) <= 0; }

}  // namespace hostwire

// Replaces all forms, because a sanitizer has its own of each, which would bypass these.
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return mustFail() ? nullptr : std::malloc(size == 0 ? 1 : size);
}

void* operator new(std::size_t size) {
  void* block = operator new(size, std::nothrow);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

void* operator new[](std::size_t size, const std::nothrow_t& tag) noexcept { return operator new(size, tag); }
void* operator new[](std::size_t size) { return operator new(size); }

void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t /*size*/) noexcept { std::free(block); }
void operator delete(void* block, const std::nothrow_t& /*tag*/) noexcept { std::free(block); }
void operator delete[](void* block) noexcept { std::free(block); }
void operator delete[](void* block, std::size_t /*size*/) noexcept { std::free(block); }
void operator delete[](void* block, const std::nothrow_t& /*tag*/) noexcept { std::free(block); }
