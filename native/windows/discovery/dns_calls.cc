// DnsServiceRegister and related functions, from dnsapi.dll.
#include "windows/discovery/dns_calls.h"

#include <optional>
#include <stdexcept>

#include "host/library.h"

namespace hostwire {
namespace {

std::optional<DnsCalls> findCalls() {
  try {
    static const Library library("dnsapi.dll");
    DnsCalls calls{};
    const auto find = [](const char* symbol, auto& function) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(library.find(symbol));
      return function != nullptr;
    };
    const bool hasAll = find("DnsServiceConstructInstance", calls.construct) &&
                        find("DnsServiceFreeInstance", calls.freeInstance) &&
                        find("DnsServiceRegister", calls.add) && find("DnsServiceDeRegister", calls.remove);
    return hasAll ? std::optional(calls) : std::nullopt;
  } catch (const std::runtime_error&) {
    return std::nullopt;
  }
}

}  // namespace

const DnsCalls* systemDnsCalls() {
  static const std::optional<DnsCalls> calls = findCalls();
  return calls ? &*calls : nullptr;
}

}  // namespace hostwire
