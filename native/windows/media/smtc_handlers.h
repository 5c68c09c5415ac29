// Handlers of asynchronous answers and events: objects that Windows calls, on its own threads.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "windows/media/smtc_abi.h"
#include "windows/media/smtc_ids.h"
#include "windows/task_loop.h"
#include "windows/win32/com.h"

namespace hostwire::smtc {

// `Abi`: CompletedHandler or EventHandler; `Argument`: the second parameter of its invoke.
template <class Abi, class Argument>
class Handler final : public Abi {
 public:
  using Body = std::function<void(Argument)>;

  // `id`: the interface that it implements. `body` must not throw.
  static ComPtr<Abi> make(const GUID& id, Body body) {
    return ComPtr<Abi>::adopt(std::unique_ptr<Handler>(new Handler(id, std::move(body))).release());
  }

  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID id, void** result) override {
    if (result == nullptr) return E_POINTER;
    *result = nullptr;
    // Agile: may be called on any thread, without a proxy.
    if (!IsEqualGUID(id, id_) && !IsEqualGUID(id, kUnknown) && !IsEqualGUID(id, kAgileObject))
      return E_NOINTERFACE;
    *result = static_cast<Abi*>(this);
    AddRef();
    return S_OK;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return ++references_; }
  ULONG STDMETHODCALLTYPE Release() override {
    const ULONG left = --references_;
    if (left == 0) const std::unique_ptr<Handler> last(this);
    return left;
  }
  HRESULT STDMETHODCALLTYPE invoke(IUnknown*, Argument argument) override {
    body_(argument);
    return S_OK;
  }

  ~Handler() = default;

 private:
  Handler(const GUID& id, Body body) : id_(id), body_(std::move(body)) {}

  std::atomic<ULONG> references_{1};
  const GUID id_;
  const Body body_;
};

inline ComPtr<CompletedHandler> onCompleted(const GUID& id, std::function<void(int status)> body) {
  return Handler<CompletedHandler, int>::make(id, std::move(body));
}

inline ComPtr<EventHandler> onEvent(const GUID& id, std::function<void()> body) {
  return Handler<EventHandler, IUnknown*>::make(id, [body = std::move(body)](IUnknown*) { body(); });
}

// Runs `then` on the thread of `loop` when `operation` has completed, if `owner` is still there.
template <class Owner, class Result, class Then>
HRESULT whenCompleted(AsyncOperation<Result>& operation, const GUID& handlerId,
                      const std::shared_ptr<TaskLoop>& loop, const std::weak_ptr<Owner>& owner, Then then) {
  const auto handler = onCompleted(handlerId, [owner, loop, then](int status) {
    loop->post([owner, then, status] {
      if (const auto there = owner.lock()) then(*there, status);
    });
  });
  return operation.putCompleted(handler.get());
}

}  // namespace hostwire::smtc
