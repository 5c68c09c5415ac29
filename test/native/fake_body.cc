// Bodies of D-Bus messages: the D-Bus specification, "Marshaling".
#include "fake_body.h"

#include <cstring>

namespace fake {
namespace {

std::size_t typeLength(std::string_view signature) {
  if (signature[0] == 'a') return 1 + typeLength(signature.substr(1));
  if (signature[0] != '(' && signature[0] != '{') return 1;
  std::size_t at = 1;
  while (signature[at] != ')' && signature[at] != '}') at += typeLength(signature.substr(at));
  return at + 1;
}

std::size_t alignmentOf(char type) {
  switch (type) {
    case 'y':
    case 'g':
    case 'v': return 1;
    case 'n':
    case 'q': return 2;
    case 'x':
    case 't':
    case 'd':
    case '(':
    case '{': return 8;
    default: return 4;
  }
}

void putRandom(std::mt19937& random, Bytes& bytes, std::string_view type);

void putRandomAll(std::mt19937& random, Bytes& bytes, std::string_view signature) {
  while (!signature.empty()) {
    const std::size_t length = typeLength(signature);
    putRandom(random, bytes, signature.substr(0, length));
    signature.remove_prefix(length);
  }
}

void putRandom(std::mt19937& random, Bytes& bytes, std::string_view type) {
  const auto number = static_cast<std::uint64_t>(random()) << 32U | random();
  switch (type[0]) {
    case 'y': return bytes.put(static_cast<std::uint8_t>(number));
    case 'n':
    case 'q': return bytes.put(static_cast<std::uint16_t>(number));
    case 'i':
    case 'u': return bytes.put(static_cast<std::uint32_t>(number));
    case 'b': return bytes.put(static_cast<std::uint32_t>(number % 2));
    case 'x':
    case 't':
    case 'd': return bytes.put(number);
    case 's': return bytes.putText(number % 3 == 0 ? "Title" : std::string(number % 600, 'x') + "\u20ac");
    case 'o': return bytes.putText("/some/path");
    case 'g': return bytes.putSignature("a{sv}");
    case 'v': {
      const std::string inner = randomSignature(random, 1);
      const std::string first = inner.substr(0, inner.empty() ? 0 : typeLength(inner));
      bytes.putSignature(first.empty() ? "s" : first);
      return putRandom(random, bytes, first.empty() ? "s" : first);
    }
    case 'a': {
      bytes.put(std::uint32_t{0});
      const std::size_t lengthAt = bytes.text.size() - 4;
      bytes.pad(alignmentOf(type[1]));
      const std::size_t begin = bytes.text.size();
      for (unsigned i = 0; i < number % 4; ++i) putRandom(random, bytes, type.substr(1));
      const auto length = static_cast<std::uint32_t>(bytes.text.size() - begin);
      std::memcpy(bytes.text.data() + lengthAt, &length, sizeof length);
      return;
    }
    default: bytes.pad(8); return putRandomAll(random, bytes, type.substr(1, type.size() - 2));
  }
}

std::string randomType(std::mt19937& random, int depth) {
  constexpr std::string_view kBasic = "ynqiubxtdsog";
  const auto basic = [&] { return std::string(1, kBasic[random() % kBasic.size()]); };
  switch (depth > 0 ? random() % 6 : 0) {
    case 1: return "a" + randomType(random, depth - 1);
    case 2: return "(" + randomType(random, depth - 1) + basic() + ")";
    case 3: return "a{" + basic() + randomType(random, depth - 1) + "}";
    case 4: return "v";
    case 5: return "a{sv}";
    default: return basic();
  }
}

}  // namespace

std::string randomSignature(std::mt19937& random, int depth) {
  std::string signature;
  for (std::size_t i = 0, count = random() % 4; i < count; ++i) signature += randomType(random, depth);
  return signature;
}

Body randomBody(std::mt19937& random, std::string signature) {
  Bytes bytes;
  putRandomAll(random, bytes, signature);
  return {std::move(signature), bytes.text};
}

}  // namespace fake
