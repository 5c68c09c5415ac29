// Arguments and environments in the form that Windows programs receive.
#include "windows/win32/command_line.h"

#include <algorithm>
#include <map>

namespace hostwire {
namespace {

wchar_t upperOf(wchar_t unit) {
  return unit >= L'a' && unit <= L'z' ? static_cast<wchar_t>(unit - L'a' + L'A') : unit;
}

std::wstring upperOf(std::wstring_view text) {
  std::wstring upper(text);
  std::transform(upper.begin(), upper.end(), upper.begin(), [](wchar_t unit) { return upperOf(unit); });
  return upper;
}

// A name may begin with "=": the current folders of drives are kept that way ("=C:=C:\").
std::wstring nameOf(std::wstring_view variable) {
  return upperOf(variable.substr(0, variable.find(L'=', 1)));
}

void appendQuoted(std::wstring& line, std::wstring_view word) {
  if (!word.empty() && word.find_first_of(L" \t\n\v\"") == std::wstring_view::npos) {
    line += word;
    return;
  }
  line += L'"';
  std::size_t backslashes = 0;
  for (const wchar_t unit : word) {
    // Before a quotation mark each backslash must be doubled.
    if (unit == L'"') line.append(backslashes + 1, L'\\');
    backslashes = unit == L'\\' ? backslashes + 1 : 0;
    line += unit;
  }
  line.append(backslashes, L'\\');
  line += L'"';
}

}  // namespace

std::wstring joinCommandLine(std::wstring_view program, const std::vector<std::wstring>& arguments) {
  // The program's name has no escapes: it ends at the next quotation mark.
  std::wstring line = L"\"";
  line += program;
  line += L'"';
  for (const std::wstring& argument : arguments) {
    line += L' ';
    appendQuoted(line, argument);
  }
  return line;
}

std::wstring joinEnvironment(const std::vector<std::wstring>& own, const std::vector<std::wstring>& added) {
  std::map<std::wstring, std::wstring> variables;
  for (const std::wstring& variable : own) variables.insert_or_assign(nameOf(variable), variable);
  for (const std::wstring& variable : added) variables.insert_or_assign(nameOf(variable), variable);
  std::wstring block;
  for (const auto& [name, variable] : variables) {
    block += variable;
    block += L'\0';
  }
  // An empty block also ends with two zeros.
  if (block.empty()) block += L'\0';
  block += L'\0';
  return block;
}

bool isBatchFile(std::wstring_view program) {
  // Windows ignores dots and spaces at the end of a name.
  while (!program.empty() && (program.back() == L'.' || program.back() == L' ')) program.remove_suffix(1);
  if (program.size() < 4) return false;
  const std::wstring ending = upperOf(program.substr(program.size() - 4));
  return ending == L".BAT" || ending == L".CMD";
}

}  // namespace hostwire
