// Reads what a peer has sent, which may be anything: every question may be answered with "there is no such
// thing here", nothing throws, and what is not understood is stepped over.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace hostwire {

namespace sdbus {
struct Functions;
struct Message;
}  // namespace sdbus

// The cursor in one message; good while its handler runs. On the bus thread.
class BodyReader {
 public:
  // Without a message there is nothing to read.
  BodyReader() = default;
  BodyReader(const sdbus::Functions& functions, sdbus::Message* message)
      : functions_(&functions), message_(message) {}

  // The D-Bus type of the value that comes next ('s', 'a', 'v', '(' for a struct, '{' for an entry); 0 at the
  // end of the container that the cursor is in.
  char peek();
  // Steps over the value that comes next, whatever it is. False at the end.
  bool skip();

  // Each of these takes the next value and is nullopt for one of another type, which is stepped over.
  // s, o or g; longer than `most` bytes it is cut before the first character that does not fit.
  std::optional<std::string> text(std::size_t maxBytes);
  // d, y, n, q, i, u, x or t. May be infinite or no number at all: D-Bus allows it.
  std::optional<double> number();
  std::optional<bool> boolean();

  // Each of these enters the value that comes next if it is of that kind, else steps over it and returns
  // false. Whatever `inside` leaves unread is stepped over. `each()` for the first `most` elements; it need
  // not read anything.
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
  // An a{sv}, or any other array of entries with a text for a key: `each(std::string_view key)` with the
  // cursor at the entry's value. Keys are cut after 256 bytes.
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
  // The next value's type and, of a container, what it contains. False at the end.
  bool next(char& type, const char*& contents);
  bool fail();

  // `step` must take one value, or none: then it is stepped over.
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
  // Values taken, at any depth: tells whether a step has taken one.
  std::size_t taken_ = 0;
};

// `text` cut to at most `most` bytes, before the first character that does not fit whole. For valid UTF-8.
std::string_view cutText(std::string_view text, std::size_t maxBytes);

}  // namespace hostwire
