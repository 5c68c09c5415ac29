// The JavaScript class `Streams`: event streams whose sockets the addon owns.
#include <napi.h>
#include <node_api.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/streams.h"
#include "napi/error_js.h"
#include "napi/exports.h"
#include "napi/from_js.h"
#include "napi/js.h"
#include "napi/js_thread.h"

namespace hostwire {
namespace {

// Maximum channel: each takes its own memory, and they are numbered without large gaps.
constexpr std::uint32_t kMaxChannel = (1U << 20U) - 1;

const char* nameOf(SendMethod method) {
  switch (method) {
    case SendMethod::kSend: return "send";
    case SendMethod::kIoUring: return "io_uring";
    case SendMethod::kAuto: break;
  }
  return "none";
}

StreamOptions optionsOf(const Napi::Value& value) {
  StreamOptions options;
  if (!value.IsObject()) return options;
  const auto given = value.As<Napi::Object>();
  setTime(given, "silenceMs", options.silence);
  setTime(given, "stallLimitMs", options.stallLimit);
  const Napi::Value method = given.Get("method");
  for (const SendMethod known : {SendMethod::kSend, SendMethod::kIoUring})
    if (method.IsString() && method.As<Napi::String>().Utf8Value() == nameOf(known)) options.method = known;
  return options;
}

std::uint32_t channelOf(const Napi::Value& value) {
  const std::uint32_t channel = value.ToNumber().Uint32Value();
  if (channel > kMaxChannel)
    throw Napi::RangeError::New(value.Env(), "no channel " + std::to_string(channel));
  return channel;
}

std::string_view bytesOf(const Napi::Value& value, const char* name) {
  if (!value.IsTypedArray())
    throw Napi::TypeError::New(value.Env(), std::string(name) + " must be a Uint8Array");
  const auto bytes = value.As<Napi::Uint8Array>();
  return {reinterpret_cast<const char*>(bytes.Data()), bytes.ByteLength()};
}

Napi::Uint32Array numbersOf(Napi::Env env, const std::vector<std::uint32_t>& numbers) {
  auto array = Napi::Uint32Array::New(env, numbers.size());
  std::copy(numbers.begin(), numbers.end(), array.Data());
  return array;
}

class StreamsBinding : public Napi::ObjectWrap<StreamsBinding> {
 public:
  static Napi::Function define(Napi::Env env, const char* name, void*) {
    using Self = StreamsBinding;
    return DefineClass(env, name,
                       {InstanceMethod<&Self::adopt>("adopt"), InstanceMethod<&Self::publish>("publish"),
                        InstanceMethod<&Self::mayMiss>("mayMiss"), InstanceMethod<&Self::forget>("forget"),
                        InstanceMethod<&Self::finishChannel>("finish"), InstanceMethod<&Self::cut>("cut"),
                        InstanceMethod<&Self::end>("end"), InstanceMethod<&Self::close>("close"),
                        InstanceMethod<&Self::counters>("counters")});
  }
  // new Streams({method?: 'send' | 'io_uring', silenceMs?, stallLimitMs?},
  //             onNews: (kept: Uint32Array, closed: Uint32Array) => void)
  explicit StreamsBinding(const Napi::CallbackInfo& info)
      : Napi::ObjectWrap<StreamsBinding>(info), js_(info.Env()) {
    if (!info[1].IsFunction()) throw Napi::TypeError::New(info.Env(), "onNews must be a function");
    onNews_ = Napi::Persistent(info[1].As<Napi::Function>());
    try {
      writer_ =
          makeStreamWriter(optionsOf(info[0]), [this] { js_.post([this](Napi::Env env) { deliver(env); }); });
    } catch (const std::exception& error) {
      js_.close();
      throw toJsError(info.Env(), error);
    }
    // Pinned while a thread may use it: until close().
    Ref();
    // Added after the thread-safe function was created, so that it runs before that function is finalized.
    isHooked_ = napi_add_env_cleanup_hook(info.Env(), endWithEnvironment, this) == napi_ok;
  }
  ~StreamsBinding() override {
    if (isHooked_) napi_remove_env_cleanup_hook(Env(), endWithEnvironment, this);
    finish();
  }

 private:
  // adopt(descriptor: number, channel: number, sent: number, isPlain: boolean, head: Uint8Array,
  //       event: Uint8Array): number
  Napi::Value adopt(const Napi::CallbackInfo& info) {
    const int descriptor = info[0].ToNumber().Int32Value();
    StreamOpening opening;
    opening.channel = channelOf(info[1]);
    opening.sent = info[2].ToNumber().Uint32Value();
    opening.framing = info[3].ToBoolean() ? StreamFraming::kPlain : StreamFraming::kChunked;
    opening.head = bytesOf(info[4], "head");
    opening.event = bytesOf(info[5], "event");
    return orThrow(info.Env(), [&] { return js(info.Env(), writer_->adopt(descriptor, opening)); });
  }
  // publish(channel: number, number: number, event: Uint8Array, whole?: Uint8Array)
  void publish(const Napi::CallbackInfo& info) {
    StreamSample sample;
    sample.number = info[1].ToNumber().Uint32Value();
    sample.event = bytesOf(info[2], "event");
    if (!info[3].IsUndefined()) sample.whole = bytesOf(info[3], "whole");
    writer_->publish(channelOf(info[0]), sample);
  }
  // mayMiss(): boolean
  Napi::Value mayMiss(const Napi::CallbackInfo& info) {
    return Napi::Boolean::New(info.Env(), writer_->mayMiss());
  }
  // forget(channel: number)
  void forget(const Napi::CallbackInfo& info) { writer_->forget(channelOf(info[0])); }
  // finish(channel: number)
  void finishChannel(const Napi::CallbackInfo& info) { writer_->finish(channelOf(info[0])); }
  // cut(ids: Uint32Array)
  void cut(const Napi::CallbackInfo& info) {
    if (!info[0].IsTypedArray()) throw Napi::TypeError::New(info.Env(), "ids must be a Uint32Array");
    const auto ids = info[0].As<Napi::Uint32Array>();
    writer_->cut({ids.Data(), ids.ElementLength()});
  }
  // end(limitMs: number): Promise<number>, once
  Napi::Value end(const Napi::CallbackInfo& info) {
    if (ending_) throw Napi::Error::New(info.Env(), "ended before");
    ending_.emplace(Napi::Promise::Deferred::New(info.Env()));
    const Napi::Promise promise = ending_->Promise();
    if (isClosed_) {
      settle(info.Env(), 0);
    } else {
      // Keeps Node alive until it is settled.
      js_.hold();
      writer_->end(std::chrono::milliseconds(info[0].ToNumber().Int64Value()));
    }
    return promise;
  }
  // close()
  void close(const Napi::CallbackInfo& info) {
    if (isClosed_) return;
    isClosed_ = true;
    writer_->close();
    js_.close();
    Unref();
    deliver(info.Env());
  }
  // counters(): {streams, fullStreams, bufferedBytes, method}
  Napi::Value counters(const Napi::CallbackInfo& info) {
    const StreamCounters counters = writer_->counters();
    static const Literal shape("streams, fullStreams, bufferedBytes, sentEvents, skippedEvents, method");
    const std::array<napi_value, 6> values{
        js(info.Env(), counters.streams),       js(info.Env(), counters.fullStreams),
        js(info.Env(), counters.bufferedBytes), js(info.Env(), counters.sentEvents),
        js(info.Env(), counters.skippedEvents), js(info.Env(), nameOf(writer_->method()))};
    return shape.make(info.Env(), values);
  }

  // Hands events to JavaScript.
  void deliver(Napi::Env env) {
    const StreamNews news = writer_->takeNews();
    if (news.hasEnded || isClosed_) settle(env, news.cutAtEnd);
    if (news.buffered.empty() && news.closed.empty()) return;
    std::vector<std::uint32_t> buffered;
    buffered.reserve(news.buffered.size() * 2);
    for (const auto& [id, bytes] : news.buffered) buffered.insert(buffered.end(), {id, bytes});
    onNews_.Value().Call({numbersOf(env, buffered), numbersOf(env, news.closed)});
  }
  void settle(Napi::Env env, std::size_t cut) {
    if (!ending_ || std::exchange(hasSettled_, true)) return;
    ending_->Resolve(js(env, cut));
    js_.release();
  }
  // Joining is safe because nothing on the writer's thread blocks.
  void finish() {
    if (writer_) writer_->close();
    js_.close();
  }
  static void endWithEnvironment(void* data) {
    auto* const self = static_cast<StreamsBinding*>(data);
    self->isHooked_ = false;
    self->finish();
  }

  JsThread js_;
  std::unique_ptr<StreamWriter> writer_;
  Napi::FunctionReference onNews_;
  std::optional<Napi::Promise::Deferred> ending_;
  bool hasSettled_ = false;
  bool isHooked_ = false;
  bool isClosed_ = false;
};

}  // namespace

// Also adds canOwnStreams(): boolean; findSendMethod(): string.
void exportStreams(const Exports& exports) {
  exports.addClass<StreamsBinding>("Streams");
  exports.add("canOwnStreams",
              [](const Napi::CallbackInfo& info) { return js(info.Env(), canOwnStreams()); });
  exports.add("findSendMethod",
              [](const Napi::CallbackInfo& info) { return js(info.Env(), nameOf(findSendMethod())); });
}

}  // namespace hostwire
