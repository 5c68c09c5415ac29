// One announcement: DnsServiceRegister, whose answer arrives on a thread of Windows.
#include "windows/discovery/registration.h"

#include <array>
#include <utility>
#include <vector>

#include "host/thread.h"
#include "windows/win32/error_text.h"
#include "windows/win32/unicode.h"
// After windows.h, which has its types.
#include <iphlpapi.h>

namespace hostwire {
namespace {

// 0: all interfaces.
ULONG indexOfLink(const std::string& name) {
  NET_LUID luid{};
  NET_IFINDEX index = 0;
  if (name.empty() || ConvertInterfaceAliasToLuid(toWide(name).c_str(), &luid) != NO_ERROR) return 0;
  return ConvertInterfaceLuidToIndex(&luid, &index) == NO_ERROR ? index : 0;
}

std::wstring hostName() {
  std::array<wchar_t, 256> name{};
  auto size = static_cast<DWORD>(name.size());
  return GetComputerNameExW(ComputerNameDnsHostname, name.data(), &size) != 0 ? name.data() : L"localhost";
}

// Returns "desk" of "desk._hostwire._tcp.local".
std::string labelOf(std::wstring_view instance) { return toUtf8(instance.substr(0, instance.find(L"._"))); }

PDNS_SERVICE_INSTANCE construct(const DnsCalls& calls, const Announcement& wanted) {
  const std::wstring name = toWide(wanted.name + "." + kServiceType + ".local");
  const std::wstring host = hostName() + L".local";
  std::vector<std::wstring> texts;
  for (const std::string& text : wanted.texts) {
    const auto equals = text.find('=');
    texts.push_back(toWide(text.substr(0, equals)));
    texts.push_back(toWide(text.substr(equals + 1)));
  }
  std::vector<PCWSTR> keys;
  std::vector<PCWSTR> values;
  for (std::size_t at = 0; at + 1 < texts.size(); at += 2) {
    keys.push_back(texts[at].c_str());
    values.push_back(texts[at + 1].c_str());
  }
  return calls.construct(name.c_str(), host.c_str(), nullptr, nullptr, wanted.port, 0, 0,
                         static_cast<DWORD>(keys.size()), keys.data(), values.data());
}

}  // namespace

// Memory that Windows refers to until it has answered.
struct Registration::Ticket {
  std::shared_ptr<Registration> self;
  void (Registration::*then)(DWORD, const std::string&);
  DNS_SERVICE_REGISTER_REQUEST request;
};

Registration::Registration(const DnsCalls& calls, std::shared_ptr<TaskLoop> loop, Announcement wanted,
                           std::function<void()> onChange)
    : calls_(calls),
      loop_(std::move(loop)),
      wanted_(std::move(wanted)),
      onChange_(std::move(onChange)),
      now_{wanted_.name, false, ""} {}

Registration::~Registration() {
  if (instance_ != nullptr) calls_.freeInstance(instance_);
}

void Registration::begin() {
  instance_ = construct(calls_, wanted_);
  if (instance_ == nullptr) return added(ERROR_OUTOFMEMORY, "");
  state_ = State::kAdding;
  ask(calls_.add, &Registration::added);
}

// Windows asks its DNS client, a service, which may not answer: never on the command thread.
void Registration::ask(Call call, void (Registration::*then)(DWORD, const std::string&)) {
  auto* const ticket = new Ticket{shared_from_this(), then, {}};
  ticket->request.Version = DNS_QUERY_REQUEST_VERSION1;
  ticket->request.InterfaceIndex = indexOfLink(wanted_.link);
  ticket->request.pServiceInstance = instance_;
  ticket->request.pRegisterCompletionCallback = onComplete;
  ticket->request.pQueryContext = ticket;
  const auto run = [call, ticket] {
    const DWORD status = call(&ticket->request, nullptr);
    if (status != kDnsRequestPending) onComplete(status, ticket, nullptr);
  };
  if (!startThread(run)) onComplete(ERROR_OUTOFMEMORY, ticket, nullptr);
}

void WINAPI Registration::onComplete(DWORD status, void* context, PDNS_SERVICE_INSTANCE instance) {
  const std::shared_ptr<Ticket> ticket(static_cast<Ticket*>(context));
  std::string name;
  if (instance != nullptr) {
    if (instance->pszInstanceName != nullptr) name = labelOf(instance->pszInstanceName);
    ticket->self->calls_.freeInstance(instance);
  }
  ticket->self->loop_->post([ticket, status, name] { (ticket->self.get()->*ticket->then)(status, name); });
}

void Registration::added(DWORD status, const std::string& name) {
  const bool isAdded = status == ERROR_SUCCESS;
  state_ = isAdded ? State::kAdded : State::kFailed;
  if (onDone_) return end(std::exchange(onDone_, nullptr));
  now_ = {isAdded && !name.empty() ? name : wanted_.name, isAdded,
          isAdded ? "" : "DnsServiceRegister: " + windowsErrorText(status)};
  onChange_();
}

void Registration::end(std::function<void()> onDone) {
  onDone_ = std::move(onDone);
  if (state_ == State::kAdding) return;  // its answer is waited for
  if (state_ != State::kAdded) return finish();
  state_ = State::kEnded;
  ask(calls_.remove, &Registration::removed);
}

void Registration::removed(DWORD, const std::string&) { finish(); }

void Registration::finish() {
  if (const auto onDone = std::exchange(onDone_, nullptr)) onDone();
}

}  // namespace hostwire
