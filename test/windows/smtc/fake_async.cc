// Operations that end later, or never; and what is told of those that fail.
#include <chrono>
#include <thread>

#include "fake_object.h"

namespace fake {

using std::chrono::milliseconds;
using InvokeStatus = HRESULT(STDMETHODCALLTYPE*)(IUnknown*, void*, int);

// How an operation ends: from `behaviour`, which is its session's or the manager's.
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
    // At once, on the very thread that asks: as an operation that was over already.
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
