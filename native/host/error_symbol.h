// Tables of error codes and their symbols.
#pragma once

#include <span>
#include <string_view>

namespace hostwire {

struct ErrorSymbol {
  int code;
  std::string_view symbol;
};

// One row of such a table: `name` is a macro of a system header and also the symbol.
#define HOSTWIRE_ERROR(name) \
  hostwire::ErrorSymbol { static_cast<int>(name), #name }

// Returns the symbol of `code`; of rows with the same code the first counts. Empty if no row has it.
std::string_view findErrorSymbol(std::span<const ErrorSymbol> rows, int code);

}  // namespace hostwire
