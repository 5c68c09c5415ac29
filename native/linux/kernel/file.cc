// Descriptors and whole-file reads of kernel text.
#include "linux/kernel/file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "host/error.h"
#include "linux/kernel/directory.h"

namespace hostwire {
namespace {

constexpr std::size_t kFirstBufferBytes = 4096;
constexpr std::size_t kSmallestPageBytes = 4096;
constexpr std::size_t kLongestRecordBytes = 512;
constexpr std::size_t kMaxBytes =
    16U << 20U;  // far above any kernel file; protects against a device in a fixture tree

// Errors of a sensor that cannot measure now: the same descriptor works again when it can. Any other error
// may mean that the device, and its file with it, is gone.
bool isPassing(int code) { return code == EIO || code == ENODATA || code == EAGAIN || code == EBUSY; }

// procfs regenerates the text at offset 0, so a read that fills the buffer is repeated with a larger one
// rather than continued: continuing would join two different moments. A first read of at most `surelyWhole`
// bytes is not followed by another; after `maxBytes` no more is read.
ssize_t readWhole(int fd, std::string& buffer, std::size_t surelyWhole, std::size_t maxBytes) {
  if (buffer.size() < kFirstBufferBytes) buffer.resize(kFirstBufferBytes);
  while (true) {
    std::size_t length = 0;
    while (length < buffer.size()) {
      const ssize_t got =
          pread(fd, buffer.data() + length, buffer.size() - length, static_cast<off_t>(length));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return -1;
      if (got == 0) return static_cast<ssize_t>(length);
      length += static_cast<std::size_t>(got);
      if (length <= surelyWhole || length >= maxBytes) return static_cast<ssize_t>(length);
    }
    if (buffer.size() >= kMaxBytes) {
      errno = EFBIG;
      return -1;
    }
    buffer.resize(buffer.size() * 2);
  }
}

}  // namespace

void FileDescriptor::reset(int fd) {
  if (fd_ >= 0) close(fd_);
  fd_ = fd;
}

void KeptFile::openOnce() {
  if (fd_.isOpen()) return;
  fd_.reset(open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd_.isOpen()) throw HostError(errno, "open " + path_);
}

std::string_view KeptFile::read(std::string& buffer) { return readUntil(buffer, 0, SIZE_MAX); }

std::string_view KeptFile::readShortRecords(std::string& buffer, std::size_t maxBytes) {
  return readUntil(buffer, kSmallestPageBytes - kLongestRecordBytes, maxBytes);
}

std::string_view KeptFile::readUntil(std::string& buffer, std::size_t surelyWhole, std::size_t maxBytes) {
  openOnce();
  const ssize_t length = readWhole(fd_.get(), buffer, surelyWhole, maxBytes);
  if (length < 0) {
    const int code = errno;
    if (!isPassing(code)) fd_.reset();
    throw HostError(code, "read " + path_);
  }
  return {buffer.data(), static_cast<std::size_t>(length)};
}

std::string_view KeptFile::readIfPresent(std::string& buffer) noexcept {
  try {
    return read(buffer);
  } catch (...) {
    return {};
  }
}

std::string_view KeptFile::readShortRecordsIfPresent(std::string& buffer) noexcept {
  try {
    return readShortRecords(buffer);
  } catch (...) {
    return {};
  }
}

std::string_view KeptFile::readHeadIfPresent(std::string& buffer, std::size_t maxBytes) noexcept {
  try {
    openOnce();
    if (buffer.size() < maxBytes) buffer.resize(maxBytes);
  } catch (...) {
    return {};
  }
  std::size_t length = 0;
  while (length < maxBytes) {
    const ssize_t got =
        pread(fd_.get(), buffer.data() + length, maxBytes - length, static_cast<off_t>(length));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fd_.reset();
    if (got <= 0) break;
    length += static_cast<std::size_t>(got);
  }
  return {buffer.data(), length};
}

std::string_view readFirst(std::vector<KeptFile>& files, std::string& buffer) noexcept {
  for (KeptFile& file : files)
    if (const auto text = file.readIfPresent(buffer); !text.empty()) return text;
  return {};
}

std::optional<KeptFile> keepIfPresent(const std::string& path) {
  if (!mayBePresent(path)) return std::nullopt;
  return KeptFile(path);
}

std::string readSmallFile(const std::string& path) { return tryReadSmallFile(path).value_or(std::string()); }

std::optional<std::string> tryReadSmallFile(const std::string& path) {
  try {
    std::string buffer;
    std::string text(KeptFile(path).read(buffer));
    while (!text.empty() && (text.back() == '\n' || text.back() == '\0')) text.pop_back();
    return text;
  } catch (const HostError& error) {
    const int code = error.code().value();
    if (code == ENOENT || code == ENOTDIR) return std::string();
    return std::nullopt;
  } catch (...) {
    return std::nullopt;  // memory is exhausted
  }
}

}  // namespace hostwire
