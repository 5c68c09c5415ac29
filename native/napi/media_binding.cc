// The JavaScript class `Media`: the players of the machine, and its media keys; the keys of objects mirror
// src/host/media.ts.
#include <napi.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <utility>

#include "host/media.h"
#include "napi/controls_binding.h"
#include "napi/error_js.h"
#include "napi/exports.h"
#include "napi/finding_js.h"
#include "napi/from_js.h"

namespace hostwire {

static Napi::Value js(Napi::Env env, MediaVerb verb) {
  return js(env, kMediaVerbNames.at(static_cast<std::size_t>(verb)));
}

static Napi::Value js(Napi::Env env, Playback playback) {
  return js(env, kPlaybackNames.at(static_cast<std::size_t>(playback)));
}

static Napi::Value js(Napi::Env env, Repeat repeat) {
  return named(env, repeat, {"none", "track", "playlist"});
}

static Napi::Value js(Napi::Env env, MediaOutcome outcome) {
  return named(env, outcome, {"done", "failed", "gone", "unanswered"});
}

static std::vector<MediaVerb> missingVerbs(const MediaPlayer& player) {
  std::vector<MediaVerb> missing;
  for (unsigned verb = 0; verb < kMediaVerbs; ++verb)
    if ((player.cannot & (1U << verb)) != 0) missing.push_back(static_cast<MediaVerb>(verb));
  return missing;
}

HOSTWIRE_JS(MediaPlayer, KEY(id), KEY(names), KEY(isSilent), KEY(playback), KEY(title), KEY(artists),
            KEY(album), KEY(artUrl), KEY(isArtLong), KEY(url), KEY(durationSeconds), KEY(positionSeconds),
            KEY(rate), KEY(shuffle), KEY(repeat), KEY(volume), KEY(lastPlayedMs),
            key<Self, missingVerbs>("cannot"))

HOSTWIRE_JS(MediaSnapshot, KEY(absence), KEY(isSettled), KEY(players), KEY(leftOut))

static Napi::Value js(Napi::Env env, const MediaReply& reply) {
  using Self = MediaReply;
  static const Shape done{KEY(outcome)};
  static const Shape failed = done.with({KEY(reason)});
  return (reply.outcome == MediaOutcome::kDone ? done : failed).make(env, &reply);
}

namespace {

// Limits notifications: after one, JavaScript gets the next only when it has asked for it.
struct Pace {
  std::mutex mutex;
  bool isArmed = true;  // the next change is reported
  bool hasChanged = false;

  // Returns whether this change must be reported now.
  bool takeChange() {
    const std::lock_guard lock(mutex);
    hasChanged = !isArmed;
    return std::exchange(isArmed, false);
  }
  bool rearm() {
    const std::lock_guard lock(mutex);
    isArmed = !hasChanged;
    return std::exchange(hasChanged, false);
  }
};

MediaVerb verbOf(const Napi::Value& value) {
  const std::uint32_t verb = value.ToNumber().Uint32Value();
  if (verb >= kMediaVerbs) throw Napi::RangeError::New(value.Env(), "unknown media verb");
  return static_cast<MediaVerb>(verb);
}

class MediaBinding : public Napi::ObjectWrap<MediaBinding> {
 public:
  static Napi::Function define(Napi::Env env, const char* name, void*) {
    using Self = MediaBinding;
    return DefineClass(
        env, name,
        {InstanceMethod<&Self::watch>("watch"), InstanceMethod<&Self::read>("read"),
         InstanceMethod<&Self::rearm>("rearm"), InstanceMethod<&Self::control>("control"),
         InstanceMethod<&Self::readArt>("readArt"), InstanceMethod<&Self::askArtUrl>("askArtUrl"),
         InstanceMethod<&Self::keyAbsence>("keyAbsence"), InstanceMethod<&Self::describe>("describe"),
         InstanceMethod<&Self::openKeys>("openKeys"), InstanceMethod<&Self::pressKey>("pressKey")});
  }
  // new Media(controls, {files?}, onNews: () => void)
  explicit MediaBinding(const Napi::CallbackInfo& info)
      : Napi::ObjectWrap<MediaBinding>(info),
        controls_(controlsOf(info[0])),
        completions_(Completions::open(info.Env())),
        players_(controls_->thread,
                 [pace = pace_, listener = Listener(info[2], "onNews", controls_)] {
                   if (pace->takeChange()) listener();
                 }),
        keys_(rootsOf(info[1])) {}

 private:
  // watch()
  void watch(const Napi::CallbackInfo&) { players_.watch(); }
  // read(): MediaSnapshot
  Napi::Value read(const Napi::CallbackInfo& info) { return js(info.Env(), players_.read()); }
  // rearm(): boolean. Returns true when the players have changed since onNews was called; if not, onNews is
  // called at the next change. Otherwise it is not called again before rearm().
  Napi::Value rearm(const Napi::CallbackInfo& info) { return Napi::Boolean::New(info.Env(), pace_->rearm()); }
  // control(id: string, verb: number, value: number, limitMs: number): Promise<MediaReply>
  Napi::Value control(const Napi::CallbackInfo& info) {
    const std::string id = textOf(info[0]);
    const MediaVerb verb = verbOf(info[1]);
    const double value = info[2].ToNumber().DoubleValue();
    const std::chrono::milliseconds limit{info[3].ToNumber().Int64Value()};
    const auto open = OpenPromise::start(info.Env(), controls_);
    players_.control(id, verb, value, limit, [open](const MediaReply& reply) { open->resolve(reply); });
    return open->promise();
  }
  // readArt(id: string, path: string, maxBytes: number): Promise<Buffer>
  Napi::Value readArt(const Napi::CallbackInfo& info) {
    const std::string id = textOf(info[0]);
    const std::string path = textOf(info[1]);
    const std::size_t maxBytes = info[2].ToNumber().Uint32Value();
    return startDetached(info.Env(), completions_, players_.artReader(id, path, maxBytes), bytesToJs);
  }
  // askArtUrl(id: string, maxBytes: number, limitMs: number): Promise<string | null>
  Napi::Value askArtUrl(const Napi::CallbackInfo& info) {
    const std::string id = textOf(info[0]);
    const std::size_t maxBytes = info[1].ToNumber().Uint32Value();
    const std::chrono::milliseconds limit{info[2].ToNumber().Int64Value()};
    const auto open = OpenPromise::start(info.Env(), controls_);
    players_.askArtUrl(id, maxBytes, limit,
                       [open](const std::optional<std::string>& address) { open->resolve(address); });
    return open->promise();
  }
  // keyAbsence(): string | null
  Napi::Value keyAbsence(const Napi::CallbackInfo& info) {
    const auto absence = keys_.absence();
    return absence ? js(info.Env(), absence->reason) : info.Env().Null();
  }
  // describe(): Finding[]
  Napi::Value describe(const Napi::CallbackInfo& info) {
    const Finding players = players_.describe();
    const bool areKeysNeeded = players.status == Finding::Status::kMissing;
    return js(info.Env(), Findings{players, describeKeys(keys_.absence(), areKeysNeeded)});
  }
  // openKeys(): boolean, whether the keyboard is new
  Napi::Value openKeys(const Napi::CallbackInfo& info) {
    return orThrow(info.Env(), [&] { return js(info.Env(), keys_.open()); });
  }
  // pressKey(verb: number)
  void pressKey(const Napi::CallbackInfo& info) {
    const MediaVerb verb = verbOf(info[0]);
    orThrow(info.Env(), [&] { keys_.press(verb); });
  }

  std::shared_ptr<Controls> controls_;
  std::shared_ptr<Completions> completions_;
  const std::shared_ptr<Pace> pace_ = std::make_shared<Pace>();
  MediaPlayers players_;
  MediaKeys keys_;
};

}  // namespace

void exportMedia(const Exports& exports) { exports.addClass<MediaBinding>("Media"); }

}  // namespace hostwire
