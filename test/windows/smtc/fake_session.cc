// One session: its questions, its commands and its listeners.
#include <chrono>
#include <map>
#include <string>
#include <thread>

#include "fake_object.h"

namespace fake {
namespace {

HRESULT STDMETHODCALLTYPE getSourceAppUserModelId(Object* self, HSTRING* name) {
  count("Session.getSourceAppUserModelId");
  *name = nullptr;
  if (behaviourOf(*self->session, "mute") != 0) return E_FAIL;
  return makeText(self->session->name, name);
}

const wchar_t* const kPropertiesCompletedId = L"{84593A3D-951A-55B6-8353-5205E577797B}";
const wchar_t* const kBooleanCompletedId = L"{C1D3D1A2-AE17-5A5F-B5A2-BDCC8844889A}";

HRESULT STDMETHODCALLTYPE putPropertiesCompleted(Object* self, IUnknown* handler) {
  count("AsyncProperties.putCompleted");
  Behaviour behaviour;
  {
    const Guard guard(mutexOf());
    Session& session = *self->session;
    behaviour["outrun"] = isOnceMore(session, "outrun") ? 1 : 0;
    const bool isLost = isOnceMore(session, "losemetadata");
    behaviour["hang"] = isLost ? 1 : behaviourOf(session, "mutemetadata");
    behaviour["error"] = behaviourOf(session, "errormetadata");
    const long late = behaviourOf(session, "latemetadata");
    behaviour["late"] = late != 0 ? late : behaviourOf(session, "late");
    behaviour["broken"] = behaviourOf(session, "brokenmetadata");
  }
  return complete(self, handler, kPropertiesCompletedId, behaviour);
}
HRESULT STDMETHODCALLTYPE getPropertiesResults(Object* self, Object** properties) {
  count("AsyncProperties.getResults");
  count("results " + self->session->id);
  *properties = nullptr;
  if (behaviourOf(*self->session, "nometadata") != 0) return E_FAIL;
  *properties = new Object(kPropertiesSlots, kInspectableId, "properties");
  (*properties)->session = self->session;
  return S_OK;
}
const Slot kAsyncPropertiesSlots[] = {FAKE_INSPECTABLE, slot(&putPropertiesCompleted), no(),
                                      slot(&getPropertiesResults)};

HRESULT STDMETHODCALLTYPE tryGetMediaProperties(Object* self, Object** operation) {
  count("Session.tryGetMediaProperties");
  count("asked " + self->session->id);
  *operation = nullptr;
  if (behaviourOf(*self->session, "brokenmetadata") == 1) return E_FAIL;
  *operation = new Object(kAsyncPropertiesSlots, kInspectableId, "asking");
  (*operation)->session = self->session;
  return S_OK;
}
HRESULT STDMETHODCALLTYPE getTimelineProperties(Object* self, Object** timeline) {
  count("Session.getTimelineProperties");
  *timeline = nullptr;
  if (behaviourOf(*self->session, "broken") == 1) return E_FAIL;
  *timeline = new Object(kTimelineSlots, kInspectableId, "timeline");
  (*timeline)->session = self->session;
  return S_OK;
}
HRESULT STDMETHODCALLTYPE getPlaybackInfo(Object* self, Object** info) {
  count("Session.getPlaybackInfo");
  count("read " + self->session->id);
  *info = nullptr;
  if (behaviourOf(*self->session, "broken") == 1) return E_FAIL;
  // A call that does not return for this long; the session is asked on another thread than this one's.
  std::this_thread::sleep_for(std::chrono::milliseconds{behaviourOf(*self->session, "stuck")});
  *info = new Object(kInfoOfPlaybackSlots, kInspectableId, "playback");
  (*info)->session = self->session;
  return S_OK;
}

HRESULT STDMETHODCALLTYPE putBooleanCompleted(Object* self, IUnknown* handler) {
  count("AsyncBoolean.putCompleted");
  Behaviour behaviour;
  {
    const Guard guard(mutexOf());
    behaviour = self->session->behaviour;
  }
  return complete(self, handler, kBooleanCompletedId, behaviour);
}
HRESULT STDMETHODCALLTYPE getBooleanResults(Object* self, unsigned char* isTaken) {
  count("AsyncBoolean.getResults");
  *isTaken = self->isTrue ? 1 : 0;
  return S_OK;
}
const Slot kAsyncBooleanSlots[] = {FAKE_INSPECTABLE, slot(&putBooleanCompleted), no(),
                                   slot(&getBooleanResults)};

HRESULT begin(Object* self, const std::string& name, const char* status, Object** operation) {
  count("Session." + name);
  const Guard guard(mutexOf());
  *operation = nullptr;
  const auto& behaviour = self->session->behaviour;
  const long refused = behaviourOf(behaviour, "throw");
  if (refused != 0) return static_cast<HRESULT>(refused);
  *operation = new Object(kAsyncBooleanSlots, kInspectableId, "command");
  (*operation)->session = self->session;
  (*operation)->isTrue = behaviourOf(behaviour, "refuse") == 0;
  if ((*operation)->isTrue && status != nullptr) self->session->told["status"] = status;
  return S_OK;
}
#define FAKE_VERB(NAME, STATUS)                                      \
  HRESULT STDMETHODCALLTYPE NAME(Object* self, Object** operation) { \
    return begin(self, #NAME, STATUS, operation);                    \
  }
FAKE_VERB(tryPlay, "4")
FAKE_VERB(tryPause, "5")
FAKE_VERB(tryStop, "3")
FAKE_VERB(trySkipNext, nullptr)
FAKE_VERB(trySkipPrevious, nullptr)
FAKE_VERB(tryTogglePlayPause, nullptr)
HRESULT STDMETHODCALLTYPE tryChangePlaybackPosition(Object* self, std::int64_t position, Object** operation) {
  const HRESULT code = begin(self, "tryChangePlaybackPosition", nullptr, operation);
  const Guard guard(mutexOf());
  world().lastPosition = position;
  if (SUCCEEDED(code)) self->session->told["position"] = std::to_string(position);
  return code;
}

// An address that stays valid while the session lives.
std::vector<Handler>& handlersOf(const Object* self, const char* name) {
  const Guard guard(mutexOf());
  return self->session->handlers[name];
}
#define FAKE_EVENT(NAME, ID)                                                                  \
  HRESULT STDMETHODCALLTYPE add##NAME(Object* self, IUnknown* handler, std::int64_t* token) { \
    count("Session.add" #NAME);                                                               \
    if (behaviourOf(*self->session, "deaf") != 0) return E_FAIL;                              \
    return addHandler(handlersOf(self, #NAME), ID, handler, token);                           \
  }                                                                                           \
  HRESULT STDMETHODCALLTYPE remove##NAME(Object* self, std::int64_t token) {                  \
    count("Session.remove" #NAME);                                                            \
    return removeHandler(handlersOf(self, #NAME), token);                                     \
  }
FAKE_EVENT(Timeline, L"{E8BF62AF-FAC1-5FFF-9053-0BF191AE777E}")
FAKE_EVENT(Playback, L"{2BDF1426-D41F-5896-897F-EFC0B0FA7392}")
FAKE_EVENT(Metadata, L"{0F2CE2B7-AFA7-5ED0-8CB6-8C40CF9B3A5F}")

// From SourceAppUserModelId to the events of MediaPropertiesChanged, in the order of the interface.
const Slot kSessionSlots[] = {FAKE_INSPECTABLE,
                              slot(&getSourceAppUserModelId),
                              slot(&tryGetMediaProperties),
                              slot(&getTimelineProperties),
                              slot(&getPlaybackInfo),
                              slot(&tryPlay),
                              slot(&tryPause),
                              slot(&tryStop),
                              no(),
                              no(),
                              no(),
                              slot(&trySkipNext),
                              slot(&trySkipPrevious),
                              no(),
                              no(),
                              slot(&tryTogglePlayPause),
                              no(),
                              no(),
                              no(),
                              slot(&tryChangePlaybackPosition),
                              slot(&addTimeline),
                              slot(&removeTimeline),
                              slot(&addPlayback),
                              slot(&removePlayback),
                              slot(&addMetadata),
                              slot(&removeMetadata)};

std::map<Session*, Object*>& wrappers() {
  static auto* const all = new std::map<Session*, Object*>;
  return *all;
}

}  // namespace

Object* wrapperOf(const std::shared_ptr<Session>& session) {
  auto& all = wrappers();
  Object*& known = all[session.get()];
  if (known == nullptr) {
    known = new Object(kSessionSlots, L"{7148C835-9B14-5AE2-AB85-DC9B1C14E1A8}", "session");
    known->session = session;
  }
  ++known->references;
  return known;
}
void dropWrapper(const std::shared_ptr<Session>& session) {
  const auto known = wrappers().find(session.get());
  if (known == wrappers().end()) return;
  Object* const object = known->second;
  wrappers().erase(known);
  Object::release(object);
}

}  // namespace fake
