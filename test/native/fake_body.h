// Bodies of D-Bus messages, of any shape.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace fake {

// Bytes of a D-Bus message, in this machine's order.
class Bytes {
 public:
  void pad(std::size_t to) { text.append((to - text.size() % to) % to, '\0'); }
  template <class T>
  void put(T value) {
    pad(sizeof value);
    text.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void putText(std::string_view value) {
    put(static_cast<std::uint32_t>(value.size()));
    text.append(value);
    text += '\0';
  }
  void putSignature(std::string_view value) {
    text += static_cast<char>(value.size());
    text.append(value);
    text += '\0';
  }
  std::string text;
};

struct Body {
  std::string signature;
  std::string bytes;
};

// Marshals a value of each type in `signature`, with numbers and texts that `random` chooses. The signature
// is well formed.
Body randomBody(std::mt19937& random, std::string signature);
// A well-formed signature of up to three complete types, nested at most `depth` deep.
std::string randomSignature(std::mt19937& random, int depth);

}  // namespace fake
