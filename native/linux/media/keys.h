// The system calls for a uinput keyboard, as a table, so that a test can take the kernel's place.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>

#include "host/media.h"

namespace hostwire {

// Each like the call of the same name: -1 and errno on failure.
struct UinputCalls {
  int (*access)(const char* path);
  int (*open)(const char* path);
  int (*set)(int fd, unsigned long request, int value);
  int (*control)(int fd, unsigned long request, const void* argument);
  ssize_t (*write)(int fd, const void* bytes, std::size_t count);
  void (*close)(int fd);
};

const UinputCalls& systemUinput();

// A keyboard with media keys only (linux/uinput.h, Documentation/input/uinput.rst).
class UinputKeyboard {
 public:
  UinputKeyboard(std::string path, const UinputCalls& calls) : path_(std::move(path)), calls_(calls) {}
  ~UinputKeyboard();
  UinputKeyboard(const UinputKeyboard&) = delete;
  UinputKeyboard& operator=(const UinputKeyboard&) = delete;

  std::optional<std::string> absence() const;
  // See MediaKeys.
  bool open();
  void press(MediaVerb verb);

 private:
  std::string path_;
  const UinputCalls& calls_;
  int fd_ = -1;
};

}  // namespace hostwire
