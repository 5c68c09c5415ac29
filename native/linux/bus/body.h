// Reads a peer's message, which may hold anything: every question may be answered with "not found", nothing
// throws, and unknown parts are skipped.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "linux/kernel/file.h"

namespace hostwire {

namespace sdbus {
struct Functions;
struct Message;
}  // namespace sdbus

// The cursor in one message; valid while its handler runs. On the bus thread.
class BodyReader {
 public:
  // An empty reader, for the lack of a message.
  BodyReader() = default;
  BodyReader(const sdbus::Functions& functions, sdbus::Message* message)
      : functions_(&functions), message_(message) {}

  // Returns the D-Bus type of the next value ('s', 'a', 'v', '(' for a struct, '{' for an entry); 0 at the
  // end of the current container.
  char peek();
  // Skips the next value of any type. False at the end.
  bool skip();

  // Each of these takes the next value; nullopt for a value of another type, which is skipped.
  // s, o or g; a text longer than `maxBytes` is cut before the first character that does not fit.
  std::optional<std::string> text(std::size_t maxBytes);
  // Takes d, y, n, q, i, u, x or t. May be infinite or NaN: D-Bus allows both.
  std::optional<double> number();
  std::optional<bool> boolean();
  // Takes h: a copy of its own, which outlives the message. Not open for a value of another type, and where
  // the connection refuses descriptors.
  FileDescriptor descriptor();

  // Each of these enters the next value if it is of that kind; otherwise it skips the value and returns
  // false. Values that `inside` does not read are skipped. `each()` is called for the first `maxEntries`
  // elements and need not read anything.
  template <class Each>
  bool array(std::size_t maxEntries, Each each) {
    return within('a', [&] {
      for (std::size_t i = 0; i < maxEntries && peek() != 0; ++i) one(each);
    });
  }
  template <class Inside>
  bool variant(Inside inside) {
    return within('v', inside);
  }
  template <class Inside>
  bool structure(Inside inside) {
    return within('(', inside);
  }
  // Enters an a{sv}, or any other array of entries with text keys: `each(std::string_view key)` is called
  // with the cursor at the entry's value. Keys are cut after 256 bytes.
  template <class Each>
  bool dictionary(std::size_t maxEntries, Each each) {
    return array(maxEntries, [&] {
      within('{', [&] {
        if (const auto key = text(kMaxKeyBytes)) each(std::string_view(*key));
      });
    });
  }

 private:
  static constexpr std::size_t kMaxKeyBytes = 256;

  bool enter(char kind);
  void leave();
  // Reports the next value's type and, for a container, the type of its contents. False at the end.
  bool next(char& type, const char*& contents);
  bool fail();

  // `step` must take one value or none; in the latter case the value is skipped.
  template <class Step>
  void one(Step& step) {
    const std::size_t before = taken_;
    step();
    if (taken_ == before) skip();
  }
  template <class Inside>
  bool within(char kind, Inside&& inside) {
    if (!enter(kind)) return false;
    inside();
    leave();
    return true;
  }

  const sdbus::Functions* functions_ = nullptr;
  sdbus::Message* message_ = nullptr;
  // values taken, at any depth: shows whether a step has taken one
  std::size_t taken_ = 0;
};

// Cuts `text` to at most `maxBytes` bytes, before the first character that does not fit whole. For valid
// UTF-8.
std::string_view cutText(std::string_view text, std::size_t maxBytes);

}  // namespace hostwire
