// Common parts of the objects of the made-up Windows.Media.Control; its lists, and operations that end late or
// never.
#include "fake_object.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

namespace fake {

std::atomic<long> live{0};

GUID guidOf(const wchar_t* text) {
  GUID id{};
  IIDFromString(text, &id);
  return id;
}
bool is(REFIID id, const wchar_t* text) { return IsEqualGUID(id, guidOf(text)); }

Object::Object(const Slot* table, const wchar_t* name, const char* aKind)
    : slots(table), id(name), kind(aKind) {
  ++live;
  count(std::string("live ") + kind);
}

Object::~Object() {
  for (Object* element : elements) release(element);
  if (owner != nullptr) release(owner);
  if (handler != nullptr) handler->Release();
  const Guard guard(mutexOf());
  --counts()[std::string("live ") + kind];
  --live;
}

namespace {
constexpr const wchar_t* kUnknownId = L"{00000000-0000-0000-C000-000000000046}";
constexpr const wchar_t* kAgileId = L"{94EA2B94-E9CC-49E0-C0FF-EE64CA8F5B90}";
constexpr const wchar_t* kInfoId = L"{00000036-0000-0000-C000-000000000046}";
}  // namespace
const wchar_t* const kInspectableId = L"{AF86E2E0-B12D-4C6A-9C5A-D7AA65101E90}";

HRESULT STDMETHODCALLTYPE queryInterface(Object* self, REFIID id, void** result) {
  const bool isMute = self->session && behaviourOf(*self->session, "noinfo") != 0;
  if (is(id, kInfoId) && self->handler != nullptr && !isMute) {
    auto* const info = new Object(kInfoSlots, kInfoId, "info");
    ++self->references;
    info->owner = self;
    *result = info;
    return S_OK;
  }
  if (!is(id, kUnknownId) && !is(id, kInspectableId) && !is(id, self->id)) {
    *result = nullptr;
    count("no interface");
    return E_NOINTERFACE;
  }
  ++self->references;
  *result = self;
  return S_OK;
}
ULONG STDMETHODCALLTYPE addRef(Object* self) { return ++self->references; }
ULONG STDMETHODCALLTYPE release(Object* self) {
  const ULONG left = self->references - 1;
  Object::release(self);
  return left;
}
HRESULT STDMETHODCALLTYPE unexpected(Object*) {
  count("unexpected");
  return E_NOTIMPL;
}

bool isHandler(IUnknown* handler, const wchar_t* id) {
  for (const wchar_t* each : {id, kAgileId, kUnknownId}) {
    void* found = nullptr;
    if (FAILED(handler->QueryInterface(guidOf(each), &found))) {
      count("no handler");
      return false;
    }
    static_cast<IUnknown*>(found)->Release();
  }
  void* other = nullptr;
  if (handler->QueryInterface(guidOf(kInfoId), &other) != E_NOINTERFACE || other != nullptr)
    count("no handler");
  return true;
}

HRESULT addHandler(std::vector<Handler>& handlers, const wchar_t* id, IUnknown* handler,
                   std::int64_t* token) {
  if (!isHandler(handler, id)) return E_INVALIDARG;
  const Guard guard(mutexOf());
  handler->AddRef();
  *token = ++world().lastToken;
  handlers.push_back({*token, handler});
  ++counts()["handlers"];
  return S_OK;
}
HRESULT removeHandler(std::vector<Handler>& handlers, std::int64_t token) {
  const Guard guard(mutexOf());
  const auto found = std::find_if(handlers.begin(), handlers.end(),
                                  [token](const Handler& each) { return each.token == token; });
  if (found == handlers.end()) {
    count("no token");
    return E_INVALIDARG;
  }
  found->handler->Release();
  handlers.erase(found);
  --counts()["handlers"];
  return S_OK;
}

namespace {
HRESULT STDMETHODCALLTYPE getAt(Object* self, std::uint32_t index, Object** element) {
  count("VectorView.getAt");
  if (behaviourOfManager("getat") != 0) return E_FAIL;
  if (index >= self->elements.size()) return static_cast<HRESULT>(0x8000000BU);
  *element = self->elements[index];
  if (*element != nullptr) ++(*element)->references;
  return S_OK;
}
HRESULT STDMETHODCALLTYPE getSize(Object* self, std::uint32_t* size) {
  count("VectorView.getSize");
  *size = static_cast<std::uint32_t>(self->elements.size());
  return S_OK;
}
}  // namespace
const Slot kListSlots[] = {FAKE_INSPECTABLE, slot(&getAt), slot(&getSize), no(), no()};

using std::chrono::milliseconds;
using InvokeStatus = HRESULT(STDMETHODCALLTYPE*)(IUnknown*, void*, int);

// How an operation ends, by `behaviour`, which is its session's or the manager's.
HRESULT complete(Object* self, IUnknown* handler, const wchar_t* handlerId, const Behaviour& behaviour) {
  if (!isHandler(handler, handlerId)) return E_INVALIDARG;
  handler->AddRef();
  self->handler = handler;
  if (behaviourOf(behaviour, "broken") == 2) return E_UNEXPECTED;
  if (behaviourOf(behaviour, "hang") != 0) return S_OK;
  const long error = behaviourOf(behaviour, "error");
  const int status = error == 1 ? 2 : error != 0 ? 3 : 1;
  self->error = static_cast<HRESULT>(error);
  const long late = behaviourOf(behaviour, "late");
  ++self->references;
  if (late < 0) {
    // Immediately, on the thread that asks, like an operation that is already complete.
    invokeOf<InvokeStatus>(handler)(handler, self, status);
    release(self);
    return S_OK;
  }
  const bool isOutrun = behaviourOf(behaviour, "outrun") != 0;
  runElsewhere([self, handler, status, late, isOutrun] {
    std::this_thread::sleep_for(milliseconds{late});
    const std::string results = self->session ? "results " + self->session->id : "";
    for (int i = 0; isOutrun && i < 500 && countOf(results) == 0; ++i)
      std::this_thread::sleep_for(milliseconds{20});
    invokeOf<InvokeStatus>(handler)(handler, self, status);
    if (self->session) count("completed " + self->session->id);
    release(self);
  });
  return S_OK;
}

namespace {
HRESULT STDMETHODCALLTYPE getErrorCode(Object* self, HRESULT* code) {
  count("AsyncInfo.getErrorCode");
  *code = self->owner->error;
  return S_OK;
}
}  // namespace
const Slot kInfoSlots[] = {FAKE_INSPECTABLE, no(), no(), slot(&getErrorCode), no(), no()};

}  // namespace fake
