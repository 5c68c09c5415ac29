// The media sessions of Windows.
#include "windows/media/smtc.h"

#include <roapi.h>
#include <windows.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "host/thread.h"
#include "windows/media/session_zero.h"
#include "windows/media/smtc_clock.h"
#include "windows/media/smtc_handlers.h"
#include "windows/media/smtc_ids.h"
#include "windows/win32/error_text.h"

namespace hostwire {
namespace {

using std::chrono::milliseconds;

// Time limit for Windows and the players that exist at the start; a later answer still counts.
constexpr milliseconds kSettleLimit{1000};
constexpr milliseconds kRetry{5000};
// Maximum number of times that a list that lacks sessions is requested again.
constexpr int kMaxListsAgain = 4;
constexpr milliseconds kListPause{1500};

using smtc::nowMs;

std::string failureText(const char* what, HRESULT code) {
  return std::string(what) + ": " + windowsErrorText(static_cast<unsigned long>(code));
}

constexpr const char* kSessionZero =
    "the service runs in session 0, which has no players: run it as the user who is logged in";

}  // namespace

Smtc::Smtc(std::shared_ptr<TaskLoop> commands, std::function<void()> onChange)
    : commands_(std::move(commands)), onChange_(std::move(onChange)) {}

bool Smtc::begin() {
  commands_->after(kSettleLimit, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->settle();
  });
  return startThread([self = shared_from_this()] { self->run(); });
}

MediaSnapshot Smtc::read() const {
  const std::lock_guard lock(mutex_);
  return {absence_, isSettled_, table_.read(nowMs()), table_.leftOut()};
}

void Smtc::run() {
  const HRESULT code = isInSessionZero() ? E_ACCESSDENIED : RoInitialize(RO_INIT_MULTITHREADED);
  if (FAILED(code))
    return fail(isInSessionZero() ? kSessionZero : failureText("the Windows Runtime cannot be used", code));
  connect();
  loop_->run();
  underWay_.clear();
  forget();
  requesting_.reset();
  RoUninitialize();
}

void Smtc::connect() {
  connectedMs_ = nowMs();
  const std::string reason = request();
  if (!reason.empty()) fail(reason);
}

std::string Smtc::request() {
  RuntimeString name;
  ComPtr<smtc::ManagerStatics> statics;
  HRESULT code = RuntimeString::make(smtc::kManagerClass, name);
  if (SUCCEEDED(code)) code = RoGetActivationFactory(name.get(), smtc::kManagerStatics, statics.putVoid());
  // Permanent: this Windows is older than 10 1809, or lacks this part.
  if (code == REGDB_E_CLASSNOTREG)
    return failureText("this version of Windows does not report players", code);
  if (SUCCEEDED(code)) code = statics->request(requesting_.put());
  if (SUCCEEDED(code))
    code = whenCompleted(*requesting_.get(), smtc::kManagerCompleted,
                         [](Smtc& self, int status) { self.onManager(status); });
  if (SUCCEEDED(code)) return {};
  retryLater();
  return failureText("Windows does not report players at the moment", code);
}

void Smtc::onManager(int status) {
  HRESULT code = S_OK;
  if (status == smtc::kAsyncCompleted)
    code = requesting_->getResults(manager_.put());
  else
    code = smtc::errorOf(*requesting_.get());
  requesting_.reset();
  if (FAILED(code) || !manager_) {
    retryLater();
    return fail(
        failureText("Windows does not report players at the moment", FAILED(code) ? code : E_POINTER));
  }
  const auto handler = smtc::onEvent(smtc::kSessionsChanged, [weak = weak_from_this(), loop = loop_] {
    loop->post([weak] {
      if (const auto self = weak.lock()) self->list();
    });
  });
  if (FAILED(manager_->addSessionsChanged(handler.get(), &sessionsChanged_))) sessionsChanged_ = {};
  list();
}

void Smtc::fail(const std::string& reason) {
  {
    const std::lock_guard lock(mutex_);
    absence_ = reason;
  }
  settle();
}

void Smtc::retryLater() {
  loop_->after(kRetry, [weak = weak_from_this(), loop = loop_] {
    const auto self = weak.lock();
    if (self && !loop->isEnding()) self->connect();
  });
}

void Smtc::list() {
  // An event that came just before the manager was lost.
  if (!manager_) return;
  ComPtr<smtc::VectorView<smtc::Session*>> view;
  std::uint32_t size = 0;
  HRESULT code = manager_->getSessions(view.put());
  if (SUCCEEDED(code)) code = view ? view->getSize(&size) : E_POINTER;
  if (FAILED(code)) return lose(code);
  // Sessions that still exist are taken over from these.
  std::map<std::string, Player> left = std::exchange(players_, {});
  std::vector<std::string> arrived;
  const std::uint32_t listed = std::min<std::uint32_t>(size, kMaxSessions);
  std::uint32_t found = 0;
  for (std::uint32_t i = 0; i < listed; ++i) {
    ComPtr<smtc::Session> session;
    if (FAILED(view->getAt(i, session.put())) || !session) continue;
    ++found;
    if (auto id = adopt(std::move(session), left)) arrived.push_back(std::move(*id));
  }
  {
    // In one step: reading them may take long, and no reader must see some without the others.
    const std::lock_guard lock(mutex_);
    for (const auto& [id, player] : left) table_.remove(id);
    for (const std::string& id : arrived) table_.add(id, players_[id].appUserModelId);
    table_.setLeftOut(size - listed);
    absence_.reset();
    isReached_ = true;
  }
  if (isFirstList_) markCurrent();
  for (const std::string& id : arrived) listen(id);
  isFirstList_ = false;
  if (found == listed)
    listsAgain_ = 0;
  else
    listLater();
  notify();
}

// Sessions that could not be read send no event, so the list is requested again later.
void Smtc::listLater() {
  if (listsAgain_ >= kMaxListsAgain) return;
  ++listsAgain_;
  loop_->after(kListPause, [weak = weak_from_this(), loop = loop_] {
    const auto self = weak.lock();
    if (self && !loop->isEnding()) self->list();
  });
}

void Smtc::forget() {
  players_.clear();
  if (manager_ && sessionsChanged_.value != 0) manager_->removeSessionsChanged(sessionsChanged_);
  manager_.reset();
  isFirstList_ = true;
}

// The part of Windows that manages the sessions is gone; a new one may start.
void Smtc::lose(HRESULT code) {
  forget();
  {
    const std::lock_guard lock(mutex_);
    table_.clear();
    isReached_ = false;
  }
  retryLater();
  fail(failureText("Windows does not report players at the moment", code));
}

// Windows knows which of several paused players played last and does not report it; but it reports which one
// receives its own keys.
void Smtc::markCurrent() {
  ComPtr<smtc::Session> current;
  if (FAILED(manager_->getCurrentSession(current.put())) || !current) return;
  const auto identity = identityOf(*current.get());
  for (const auto& [id, player] : players_) {
    if (player.identity.get() != identity.get()) continue;
    const std::lock_guard lock(mutex_);
    table_.setCurrent(id, connectedMs_);
  }
}

bool Smtc::isQuiet() const {
  return !isFirstList_ && std::none_of(players_.begin(), players_.end(),
                                       [](const auto& entry) { return !entry.second.asking.empty(); });
}

void Smtc::notify() {
  {
    const std::lock_guard lock(mutex_);
    if (isSettled_) {
      commands_->post(onChange_);
      return;
    }
  }
  if (isQuiet()) settle();
}

void Smtc::settle() {
  {
    const std::lock_guard lock(mutex_);
    isSettled_ = true;
    if (!isReached_ && !absence_) absence_ = "Windows does not report its players";
  }
  commands_->post(onChange_);
}

}  // namespace hostwire
