// Descriptors and whole-file reads of kernel text, without a lasting allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hostwire {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() { reset(); }
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    if (this != &other) reset(std::exchange(other.fd_, -1));
    return *this;
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  int get() const { return fd_; }
  bool isOpen() const { return fd_ >= 0; }
  void reset(int fd = -1);
  // Returns the descriptor, which the caller closes from now on.
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

// One kernel file that is kept open and read from its start each time.
class KeptFile {
 public:
  explicit KeptFile(std::string path) : path_(std::move(path)) {}

  // Reads the whole file into `buffer` (reused: it only grows) and returns the text. Opens on first use and
  // again after a failure that is not temporary. Throws HostError.
  std::string_view read(std::string& buffer);
  // The same for a file of records under 512 bytes, or of one record of any size: it saves the read that only
  // finds the end. The kernel (fs/seq_file.c) ends a read early only where the next record does not fit into
  // its page, so a read that left that much of a page was the last. For a file of more than `maxBytes` it may
  // return only its first bytes, at least that many.
  std::string_view readShortRecords(std::string& buffer, std::size_t maxBytes = SIZE_MAX);
  // Like these, but empty if the file cannot be read.
  std::string_view readIfPresent(std::string& buffer) noexcept;
  std::string_view readShortRecordsIfPresent(std::string& buffer) noexcept;
  // Reads at most the first `maxBytes`: the kernel generates long texts piece by piece, so the rest then
  // costs nothing.
  std::string_view readHeadIfPresent(std::string& buffer, std::size_t maxBytes) noexcept;
  const std::string& path() const { return path_; }
  // For poll(2); -1 before the first read and after a failure.
  int descriptor() const { return fd_.get(); }

 private:
  void openOnce();
  std::string_view readUntil(std::string& buffer, std::size_t surelyWhole, std::size_t maxBytes);

  std::string path_;
  FileDescriptor fd_;
};

// Returns the text of the first of `files`, best first, that can be read: one may exist although every
// reading of it fails. Empty if none can.
std::string_view readFirst(std::vector<KeptFile>& files, std::string& buffer) noexcept;

// Returns a file to be kept; nothing if the path does not exist. A file that cannot be examined now may
// exist.
std::optional<KeptFile> keepIfPresent(const std::string& path);

// Reads a small file once, without trailing newlines; empty if it cannot be read.
std::string readSmallFile(const std::string& path);
// The same, but nothing if the file exists and cannot be read: it may be readable later.
std::optional<std::string> tryReadSmallFile(const std::string& path);

}  // namespace hostwire
