// Writes a method call: sd_bus_message_append_basic(3).
#include "linux/bus/message.h"

#include <locale.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "linux/bus/sd_bus.h"

namespace hostwire {
namespace {

constexpr std::size_t kMaxReasonBytes = 200;

char typeOf(const BasicArgument& argument) {
  constexpr std::string_view kTypes = "biuxtdsoq";  // in the order of BasicArgument
  static_assert(kTypes.size() == std::variant_size_v<BasicArgument>);
  return kTypes[argument.index()];
}

bool append(const sdbus::Functions& functions, sdbus::Message* message, const BasicArgument& argument) {
  const char type = typeOf(argument);
  return std::visit(
             [&](const auto& value) {
               using Value = std::decay_t<decltype(value)>;
               if constexpr (std::is_same_v<Value, bool>) {
                 const int wide = value ? 1 : 0;  // sd-bus reads a boolean from an int
                 return functions.message_append_basic(message, type, &wide);
               } else if constexpr (std::is_same_v<Value, std::string>) {
                 return functions.message_append_basic(message, type, value.c_str());
               } else if constexpr (std::is_same_v<Value, ObjectPath>) {
                 return functions.message_append_basic(message, type, value.text.c_str());
               } else {
                 return functions.message_append_basic(message, type, &value);
               }
             },
             argument) >= 0;
}

bool append(const sdbus::Functions& functions, sdbus::Message* message, const Boxed& boxed) {
  const char signature[] = {typeOf(boxed.value), '\0'};
  return functions.message_open_container(message, 'v', signature) >= 0 &&
         append(functions, message, boxed.value) && functions.message_close_container(message) >= 0;
}

bool appendBytes(const sdbus::Functions& functions, sdbus::Message* message, const std::string& bytes) {
  return functions.message_open_container(message, 'a', "y") >= 0 &&
         std::all_of(bytes.begin(), bytes.end(),
                     [&](char byte) { return functions.message_append_basic(message, 'y', &byte) >= 0; }) &&
         functions.message_close_container(message) >= 0;
}

bool append(const sdbus::Functions& functions, sdbus::Message* message, const ByteStrings& list) {
  return functions.message_open_container(message, 'a', "ay") >= 0 &&
         std::all_of(list.strings.begin(), list.strings.end(),
                     [&](const std::string& bytes) { return appendBytes(functions, message, bytes); }) &&
         functions.message_close_container(message) >= 0;
}

}  // namespace

void MessageUnref::operator()(sdbus::Message* message) const { functions->message_unref(message); }

OwnedMessage writeCall(const sdbus::Functions& functions, sdbus::Bus* bus, const Call& call) {
  sdbus::Message* raw = nullptr;
  if (functions.message_new_method_call(bus, &raw, call.destination.c_str(), call.path.c_str(),
                                        call.interface.c_str(), call.member.c_str()) < 0)
    return {nullptr, {&functions}};
  OwnedMessage message(raw, {&functions});
  if (functions.message_set_auto_start(raw, 0) < 0) return {nullptr, {&functions}};
  for (const Argument& argument : call.arguments) {
    const bool isWritten =
        std::visit([&](const auto& value) { return append(functions, raw, value); }, argument);
    if (!isWritten) return {nullptr, {&functions}};
  }
  return message;
}

std::string oneLine(std::string_view text) {
  return std::string(cutText(text.substr(0, text.find_first_of("\r\n")), kMaxReasonBytes));
}

std::string errorWords(int error) {
  // strerror is not thread-safe in glibc, and glibc has strerrordesc_np only since 2.32. The "C" locale is
  // built in.
  static const locale_t untranslated = newlocale(LC_ALL_MASK, "C", nullptr);
  return strerror_l(error, untranslated);
}

}  // namespace hostwire
