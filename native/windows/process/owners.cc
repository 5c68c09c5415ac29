// The owners of processes.
#include "windows/process/owners.h"

#include <array>
#include <optional>

#include "windows/win32/unicode.h"

namespace hostwire {
namespace {

// Returns the bytes of a security identifier: at most SECURITY_MAX_SID_SIZE.
std::optional<std::string> identifierOf(HANDLE process) {
  HANDLE opened = nullptr;
  if (OpenProcessToken(process, TOKEN_QUERY, &opened) == FALSE) return std::nullopt;
  const Handle token(opened);
  alignas(TOKEN_USER) std::array<char, sizeof(TOKEN_USER) + SECURITY_MAX_SID_SIZE> buffer{};
  DWORD needed = 0;
  if (GetTokenInformation(token.get(), TokenUser, buffer.data(), static_cast<DWORD>(buffer.size()),
                          &needed) == FALSE)
    return std::nullopt;
  const auto* const user = reinterpret_cast<const TOKEN_USER*>(buffer.data());
  const DWORD length = GetLengthSid(user->User.Sid);
  return std::string(static_cast<const char*>(user->User.Sid), length);
}

std::string nameOf(std::string identifier) {
  std::array<wchar_t, 257> name{};
  std::array<wchar_t, 257> domain{};
  auto nameLength = static_cast<DWORD>(name.size());
  auto domainLength = static_cast<DWORD>(domain.size());
  SID_NAME_USE use{};
  if (LookupAccountSidW(nullptr, identifier.data(), name.data(), &nameLength, domain.data(), &domainLength,
                        &use) == FALSE)
    return "unknown";
  return toUtf8(std::wstring_view(name.data(), nameLength));
}

}  // namespace

std::uint32_t ProcessOwners::ownerOf(HANDLE process) {
  auto identifier = identifierOf(process);
  if (!identifier) return kUnknown;
  {
    const std::lock_guard lock(mutex_);
    const auto known = numbers_.find(*identifier);
    if (known != numbers_.end()) return known->second;
  }
  // Without the lock: other threads need not wait for a server.
  std::string name = nameOf(*identifier);
  const std::lock_guard lock(mutex_);
  const auto [entry, isNew] =
      numbers_.emplace(std::move(*identifier), static_cast<std::uint32_t>(numbers_.size() + 1));
  if (isNew) names_.emplace(entry->second, std::move(name));
  return entry->second;
}

std::vector<ProcessOwner> ProcessOwners::named(const std::set<std::uint32_t>& wanted) const {
  const std::lock_guard lock(mutex_);
  std::vector<ProcessOwner> owners;
  for (const std::uint32_t number : wanted) {
    const auto found = names_.find(number);
    owners.push_back({number, found == names_.end() ? "unknown" : found->second});
  }
  return owners;
}

}  // namespace hostwire
