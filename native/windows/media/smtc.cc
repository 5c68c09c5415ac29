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
  players_ = std::make_shared<SmtcPlayers>(loop_, shared_, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->notify();
  });
  commands_->after(kSettleLimit, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->settle();
  });
  return startThread([self = shared_from_this()] { self->run(); });
}

void Smtc::control(const std::string& id, MediaVerb verb, double value,
                   std::function<void(const MediaReply&)> done) {
  const bool isPosted = loop_->post([weak = weak_from_this(), id, verb, value, done] {
    if (const auto self = weak.lock()) self->players_->command(id, verb, value, done);
  });
  if (!isPosted) done({MediaOutcome::kGone, "the service is stopping"});
}

MediaSnapshot Smtc::read() const {
  const std::lock_guard lock(shared_->mutex);
  return {shared_->absence, shared_->isSettled, shared_->table.read(nowMs()), shared_->table.leftOut()};
}

void Smtc::run() {
  const HRESULT code = isInSessionZero() ? E_ACCESSDENIED : RoInitialize(RO_INIT_MULTITHREADED);
  if (FAILED(code))
    return fail(isInSessionZero() ? kSessionZero : failureText("the Windows Runtime cannot be used", code));
  connect();
  loop_->run();
  players_->end();
  forget();
  requesting_.reset();
  RoUninitialize();
}

void Smtc::connect() {
  players_->begin();
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
    code = smtc::whenCompleted(*requesting_.get(), smtc::kManagerCompleted, loop_, weak_from_this(),
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
    const std::lock_guard lock(shared_->mutex);
    shared_->absence = reason;
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
  std::vector<ComPtr<smtc::Session>> sessions;
  const std::uint32_t listed = std::min<std::uint32_t>(size, kMaxSessions);
  for (std::uint32_t i = 0; i < listed; ++i) {
    ComPtr<smtc::Session> session;
    if (SUCCEEDED(view->getAt(i, session.put())) && session) sessions.push_back(std::move(session));
  }
  const bool isComplete = sessions.size() == listed;
  const auto current = players_->isFirst() ? currentSession() : ComPtr<smtc::Session>();
  players_->replace(std::move(sessions), size - listed, current.get());
  if (isComplete)
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
  players_->clear();
  if (manager_ && sessionsChanged_.value != 0) manager_->removeSessionsChanged(sessionsChanged_);
  manager_.reset();
}

// The part of Windows that manages the sessions is gone; a new one may start.
void Smtc::lose(HRESULT code) {
  forget();
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->table.clear();
    shared_->isReached = false;
  }
  retryLater();
  fail(failureText("Windows does not report players at the moment", code));
}

// Windows knows which of several paused players played last and does not report it; but it reports which one
// receives its own keys.
ComPtr<smtc::Session> Smtc::currentSession() {
  ComPtr<smtc::Session> current;
  if (FAILED(manager_->getCurrentSession(current.put()))) current.reset();
  return current;
}

void Smtc::notify() {
  {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->isSettled) {
      commands_->post(onChange_);
      return;
    }
  }
  if (!players_->isFirst() && players_->isQuiet()) settle();
}

void Smtc::settle() {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->isSettled = true;
    if (!shared_->isReached && !shared_->absence) shared_->absence = "Windows does not report its players";
  }
  commands_->post(onChange_);
}

}  // namespace hostwire
