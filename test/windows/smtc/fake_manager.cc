// The session manager, and the request that returns it.
#include "fake_object.h"

namespace fake {
namespace {

HRESULT STDMETHODCALLTYPE getCurrentSession(Object*, Object** session) {
  count("Manager.getCurrentSession");
  const Guard guard(mutexOf());
  *session = nullptr;
  if (world().current == "!") return E_FAIL;
  for (const auto& each : world().sessions)
    if (each->id == world().current) *session = wrapperOf(each);
  return S_OK;
}
HRESULT STDMETHODCALLTYPE getSessions(Object*, Object** list) {
  count("Manager.getSessions");
  const Guard guard(mutexOf());
  *list = nullptr;
  if (behaviourOfManager("lost") != 0) return static_cast<HRESULT>(0x800706BAU);
  *list = new Object(kListSlots, kInspectableId, "list");
  for (const auto& each : world().sessions) (*list)->elements.push_back(wrapperOf(each));
  return S_OK;
}
HRESULT STDMETHODCALLTYPE addSessionsChanged(Object*, IUnknown* handler, std::int64_t* token) {
  count("Manager.addSessionsChanged");
  return addHandler(world().handlers, L"{2E2A8630-DC8C-530A-9746-BC984D4B029E}", handler, token);
}
HRESULT STDMETHODCALLTYPE removeSessionsChanged(Object*, std::int64_t token) {
  count("Manager.removeSessionsChanged");
  return removeHandler(world().handlers, token);
}
// GetCurrentSession, GetSessions, add/remove CurrentSessionChanged, add/remove SessionsChanged
const Slot kManagerSlots[] = {
    FAKE_INSPECTABLE,          slot(&getCurrentSession),    slot(&getSessions), no(), no(),
    slot(&addSessionsChanged), slot(&removeSessionsChanged)};

HRESULT STDMETHODCALLTYPE putManagerCompleted(Object* self, IUnknown* handler) {
  count("AsyncManager.putCompleted");
  Behaviour behaviour;
  {
    const Guard guard(mutexOf());
    behaviour = world().behaviour;
  }
  return complete(self, handler, L"{10F0074E-923D-5510-8F4A-DDE37754CA0E}", behaviour);
}
HRESULT STDMETHODCALLTYPE getManagerResults(Object*, Object** manager) {
  count("AsyncManager.getResults");
  *manager = nullptr;
  if (behaviourOfManager("nothing") != 0) return S_OK;
  *manager = new Object(kManagerSlots, L"{CACE8EAC-E86E-504A-AB31-5FF8FF1BCE49}", "manager");
  return S_OK;
}
const Slot kAsyncManagerSlots[] = {FAKE_INSPECTABLE, slot(&putManagerCompleted), no(),
                                   slot(&getManagerResults)};

HRESULT STDMETHODCALLTYPE request(Object*, Object** operation) {
  count("ManagerStatics.request");
  *operation = nullptr;
  const long refused = behaviourOfManager("throw");
  if (refused != 0) return static_cast<HRESULT>(refused);
  *operation = new Object(kAsyncManagerSlots, kInspectableId, "request");
  return S_OK;
}

const Slot kStaticsSlots[] = {FAKE_INSPECTABLE, slot(&request)};
HRESULT STDMETHODCALLTYPE queryFactory(Object* self, REFIID id, void** result) {
  if (!is(id, L"{2050C4EE-11A0-57DE-AED7-C97C70338245}")) return queryInterface(self, id, result);
  auto* const statics = new Object(kStaticsSlots, L"{2050C4EE-11A0-57DE-AED7-C97C70338245}", "statics");
  *result = statics;
  return S_OK;
}
}  // namespace
const Slot kFactorySlots[] = {slot(&queryFactory), slot(&addRef), slot(&release), no(), no(), no(), no()};

}  // namespace fake
