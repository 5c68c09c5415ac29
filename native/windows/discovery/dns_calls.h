// The functions of Windows for DNS-SD as a table, so that a test can take Windows' place.
#pragma once

#include <windows.h>
// After windows.h, whose types it uses.
#include <windns.h>

namespace hostwire {

// DNS_REQUEST_PENDING of winerror.h, which mingw-w64's lacks: the answer comes later.
inline constexpr DWORD kDnsRequestPending = 9506;

// Each like the function of the same name (windns.h).
struct DnsCalls {
  decltype(&DnsServiceConstructInstance) construct;
  decltype(&DnsServiceFreeInstance) freeInstance;
  decltype(&DnsServiceRegister) add;
  decltype(&DnsServiceDeRegister) remove;
};

// Returns null if this version of Windows does not have them. Loads dnsapi.dll once.
const DnsCalls* systemDnsCalls();

}  // namespace hostwire
