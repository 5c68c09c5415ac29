// The JavaScript class `Media`: the players of the machine, and its media keys.
#pragma once

#include <napi.h>

#include <memory>

#include "host/media.h"
#include "napi/controls_binding.h"
#include "napi/detached_work.h"

namespace hostwire {

class MediaBinding : public Napi::ObjectWrap<MediaBinding> {
 public:
  static Napi::Function define(Napi::Env env);
  // new Media(controls, {files?}, onNews: () => void)
  explicit MediaBinding(const Napi::CallbackInfo& info);

 private:
  struct Pace;

  // watch()
  Napi::Value watch(const Napi::CallbackInfo& info);
  // read(): MediaSnapshot
  Napi::Value read(const Napi::CallbackInfo& info);
  // rearm(): boolean. Returns true when the players have changed since onNews was called; if not, onNews is
  // called at the next change. Otherwise it is not called again before rearm().
  Napi::Value rearm(const Napi::CallbackInfo& info);
  // control(id: string, verb: number, value: number, limitMs: number): Promise<MediaReply>
  Napi::Value control(const Napi::CallbackInfo& info);
  // readArt(id: string, path: string, maxBytes: number): Promise<Buffer>
  Napi::Value readArt(const Napi::CallbackInfo& info);
  // askArtUrl(id: string, maxBytes: number, limitMs: number): Promise<string | null>
  Napi::Value askArtUrl(const Napi::CallbackInfo& info);
  // keyAbsence(): string | null
  Napi::Value keyAbsence(const Napi::CallbackInfo& info);
  // describe(): Finding[]
  Napi::Value describe(const Napi::CallbackInfo& info);
  // openKeys(): boolean, whether the keyboard is new
  Napi::Value openKeys(const Napi::CallbackInfo& info);
  // pressKey(verb: number)
  Napi::Value pressKey(const Napi::CallbackInfo& info);

  std::shared_ptr<Controls> controls_;
  std::shared_ptr<Completions> completions_;
  std::shared_ptr<Pace> pace_;
  std::unique_ptr<MediaPlayers> players_;
  MediaKeys keys_;
};

}  // namespace hostwire
