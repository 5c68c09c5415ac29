// Tables of error codes and their symbols.
#pragma once

#include <span>
#include <string_view>

namespace hostwire {

struct ErrorSymbol {
  int code;
  std::string_view symbol;
};

// A row of such a table: `name` is a macro of a system's header, and its own symbol.
#define HOSTWIRE_ERROR(name) \
  hostwire::ErrorSymbol { static_cast<int>(name), #name }

// Of rows with the same code the first counts. Empty where there is none.
std::string_view findErrorSymbol(std::span<const ErrorSymbol> rows, int code);

}  // namespace hostwire
