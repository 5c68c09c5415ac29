// The service's names in Windows.
#pragma once

namespace hostwire {

inline constexpr const wchar_t* kServiceName = L"hostwire";
inline constexpr const wchar_t* kServiceTitle = L"hostwire";
inline constexpr const wchar_t* kServiceDescription =
    L"Streams this computer's stats and takes power commands over HTTP (alpha).";

}  // namespace hostwire
