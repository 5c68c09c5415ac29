// Arguments and environments in the form that Windows programs receive: one text each. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hostwire {

// The inverse of CommandLineToArgvW and the C runtime ("Parsing C command-line arguments").
std::wstring joinCommandLine(std::wstring_view program, const std::vector<std::wstring>& arguments);

// Joins NAME=value texts: those of `added` replace those of `own` with the same name, ignoring case; sorted
// by name, as Windows requires.
std::wstring joinEnvironment(const std::vector<std::wstring>& own, const std::vector<std::wstring>& added);

// Returns whether it is a batch file, which cmd.exe runs and splits arguments of by its own rules: no
// argument is safe there.
bool isBatchFile(std::wstring_view program);

}  // namespace hostwire
