// Reads the messages of a peer: sd_bus_message_peek_type(3), sd_bus_message_skip(3).
#include "linux/bus/body.h"

#include <fcntl.h>

#include <cstdint>

#include "linux/bus/sd_bus.h"

namespace hostwire {
namespace {

// sd-bus reports structs and entries as 'r' and 'e', and their contents separately.
constexpr char kStruct = 'r';
constexpr char kEntry = 'e';

char libraryKind(char kind) {
  if (kind == '(') return kStruct;
  return kind == '{' ? kEntry : kind;
}

char signatureKind(char kind) {
  if (kind == kStruct) return '(';
  return kind == kEntry ? '{' : kind;
}

}  // namespace

std::string_view cutText(std::string_view text, std::size_t maxBytes) {
  if (text.size() <= maxBytes) return text;
  std::size_t end = maxBytes;
  // A byte 10xxxxxx continues a character: the text is cut before that character's first byte.
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end);
}

// Stops reading a message that contradicts itself.
bool BodyReader::fail() {
  message_ = nullptr;
  return false;
}

bool BodyReader::next(char& type, const char*& contents) {
  if (message_ == nullptr) return false;
  const int result = functions_->message_peek_type(message_, &type, &contents);
  if (result < 0) return fail();
  return result > 0;
}

char BodyReader::peek() {
  char type = 0;
  const char* contents = nullptr;
  return next(type, contents) ? signatureKind(type) : '\0';
}

bool BodyReader::skip() {
  char type = 0;
  const char* contents = nullptr;
  if (!next(type, contents)) return false;
  std::string signature(1, signatureKind(type));
  // A variant's contents are not part of its type.
  if (type == 'a' || type == kStruct || type == kEntry) signature += contents;
  if (type == kStruct) signature += ')';
  if (type == kEntry) signature += '}';
  if (functions_->message_skip(message_, signature.c_str()) < 0) return fail();
  ++taken_;
  return true;
}

std::optional<std::string> BodyReader::text(std::size_t maxBytes) {
  const char type = peek();
  if (type != 's' && type != 'o' && type != 'g') {
    skip();
    return std::nullopt;
  }
  const char* value = nullptr;
  if (functions_->message_read_basic(message_, type, &value) <= 0 || value == nullptr) {
    fail();
    return std::nullopt;
  }
  ++taken_;
  return std::string(cutText(value, maxBytes));
}

std::optional<double> BodyReader::number() {
  // As wide as the widest type; the library writes as many bytes as the type has.
  const auto read = [this](char type, auto value) -> std::optional<double> {
    if (functions_->message_read_basic(message_, type, &value) <= 0) {
      fail();
      return std::nullopt;
    }
    ++taken_;
    return static_cast<double>(value);
  };
  switch (const char type = peek()) {
    case 'd': return read(type, double{});
    case 'y': return read(type, std::uint8_t{});
    case 'n': return read(type, std::int16_t{});
    case 'q': return read(type, std::uint16_t{});
    case 'i': return read(type, std::int32_t{});
    case 'u': return read(type, std::uint32_t{});
    case 'x': return read(type, std::int64_t{});
    case 't': return read(type, std::uint64_t{});
    default: skip(); return std::nullopt;
  }
}

std::optional<bool> BodyReader::boolean() {
  if (peek() != 'b') {
    skip();
    return std::nullopt;
  }
  int value = 0;  // sd-bus reads a boolean into an int
  if (functions_->message_read_basic(message_, 'b', &value) <= 0) {
    fail();
    return std::nullopt;
  }
  ++taken_;
  return value != 0;
}

FileDescriptor BodyReader::descriptor() {
  if (peek() != 'h') {
    skip();
    return {};
  }
  int borrowed = -1;  // the message closes it
  if (functions_->message_read_basic(message_, 'h', &borrowed) <= 0) {
    fail();
    return {};
  }
  ++taken_;
  return FileDescriptor(fcntl(borrowed, F_DUPFD_CLOEXEC, 0));
}

bool BodyReader::enter(char kind) {
  char type = 0;
  const char* contents = nullptr;
  if (!next(type, contents)) return false;
  if (type != libraryKind(kind)) {
    skip();
    return false;
  }
  const std::string inner = contents;  // the library may free its own copy at the next call
  if (functions_->message_enter_container(message_, type, inner.c_str()) <= 0) return fail();
  ++taken_;
  return true;
}

// A container can only be left at its end.
void BodyReader::leave() {
  while (message_ != nullptr && functions_->message_at_end(message_, 0) == 0)
    if (!skip()) break;
  if (message_ != nullptr && functions_->message_exit_container(message_) < 0) fail();
}

}  // namespace hostwire
