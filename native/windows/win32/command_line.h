// Arguments and environments as Windows programs are given them: one text each. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hostwire {

// As CommandLineToArgvW and the C runtime take it apart again ("Parsing C command-line arguments").
std::wstring joinCommandLine(std::wstring_view program, const std::vector<std::wstring>& arguments);

// Of NAME=value texts: those of `added` in place of those of `own` with the same name, whatever its case; by
// name, as Windows wants them.
std::wstring joinEnvironment(const std::vector<std::wstring>& own, const std::vector<std::wstring>& added);

// A batch file is run by cmd.exe, which takes arguments apart by rules of its own: none is safe there.
bool isBatchFile(std::wstring_view program);

}  // namespace hostwire
