// The JavaScript class `Streams`: event streams whose sockets the addon owns.
#pragma once

#include <napi.h>

#include <cstddef>
#include <memory>
#include <optional>

#include "host/streams.h"
#include "napi/js_thread.h"

namespace hostwire {

class StreamsBinding : public Napi::ObjectWrap<StreamsBinding> {
 public:
  static Napi::Function define(Napi::Env env);
  // new Streams({method?: 'send' | 'io_uring', silenceMs?, stallLimitMs?},
  //             onNews: (kept: Uint32Array, closed: Uint32Array) => void)
  explicit StreamsBinding(const Napi::CallbackInfo& info);
  ~StreamsBinding() override;

 private:
  // adopt(descriptor: number, channel: number, sent: number, isPlain: boolean, head: Uint8Array,
  //       event: Uint8Array): number
  Napi::Value adopt(const Napi::CallbackInfo& info);
  // publish(channel: number, number: number, event: Uint8Array, whole?: Uint8Array)
  Napi::Value publish(const Napi::CallbackInfo& info);
  // mayMiss(): boolean
  Napi::Value mayMiss(const Napi::CallbackInfo& info);
  // forget(channel: number)
  Napi::Value forget(const Napi::CallbackInfo& info);
  // finish(channel: number)
  Napi::Value finishChannel(const Napi::CallbackInfo& info);
  // cut(ids: Uint32Array)
  Napi::Value cut(const Napi::CallbackInfo& info);
  // end(limitMs: number): Promise<number>, once
  Napi::Value end(const Napi::CallbackInfo& info);
  // close()
  Napi::Value close(const Napi::CallbackInfo& info);
  // counters(): {streams, fullStreams, bufferedBytes, method}
  Napi::Value counters(const Napi::CallbackInfo& info);

  // Hands events to JavaScript.
  void deliver(Napi::Env env);
  void settle(Napi::Env env, std::size_t cut);
  void finish();
  static void endWithEnvironment(void* data);

  JsThread js_;
  std::unique_ptr<StreamWriter> writer_;
  Napi::FunctionReference onNews_;
  std::optional<Napi::Promise::Deferred> ending_;
  bool hasSettled_ = false;
  bool isHooked_ = false;
  bool isClosed_ = false;
};

// canOwnStreams(): boolean; findSendMethod(): string
void exportStreams(Napi::Env env, Napi::Object exports);

}  // namespace hostwire
