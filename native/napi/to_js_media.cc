// Players and replies to JavaScript objects.
#include "napi/to_js_media.h"

#include <array>

namespace hostwire {
namespace {

// Each in the order of its enum.
constexpr std::array<const char*, kMediaVerbs> kVerbs{"play", "pause",    "play_pause", "stop",
                                                      "next", "previous", "seek",       "set_volume"};
constexpr std::array<const char*, 3> kPlaybacks{"playing", "paused", "stopped"};
constexpr std::array<const char*, 3> kRepeats{"none", "track", "playlist"};
constexpr std::array<const char*, 4> kOutcomes{"done", "failed", "gone", "unanswered"};

template <class Names, class Value>
Napi::Value nameOf(Napi::Env env, const Names& names, Value value) {
  return Napi::String::New(env, names.at(static_cast<std::size_t>(value)));
}

Napi::Value textsOf(Napi::Env env, const std::vector<std::string>& texts) {
  auto array = Napi::Array::New(env, texts.size());
  for (std::uint32_t i = 0; i < texts.size(); ++i) array.Set(i, Napi::String::New(env, texts[i]));
  return array;
}

Napi::Value orNull(Napi::Env env, const std::optional<double>& number) {
  return number ? Napi::Number::New(env, *number) : env.Null();
}
Napi::Value orNull(Napi::Env env, const std::optional<std::string>& text) {
  return text ? Napi::String::New(env, *text) : env.Null();
}

Napi::Object playerOf(Napi::Env env, const MediaPlayer& player) {
  auto object = Napi::Object::New(env);
  object.Set("id", player.id);
  object.Set("names", textsOf(env, player.names));
  object.Set("isSilent", player.isSilent);
  object.Set("playback", nameOf(env, kPlaybacks, player.playback));
  object.Set("title", player.title);
  object.Set("artists", textsOf(env, player.artists));
  object.Set("album", orNull(env, player.album));
  object.Set("artUrl", orNull(env, player.artUrl));
  object.Set("durationSeconds", orNull(env, player.durationSeconds));
  object.Set("positionSeconds", orNull(env, player.positionSeconds));
  object.Set("rate", orNull(env, player.rate));
  object.Set("shuffle", player.shuffle ? Napi::Boolean::New(env, *player.shuffle) : env.Null());
  object.Set("repeat", player.repeat ? nameOf(env, kRepeats, *player.repeat) : env.Null());
  object.Set("volume", orNull(env, player.volume));
  object.Set("lastPlayedMs", orNull(env, player.lastPlayedMs));
  auto cannot = Napi::Array::New(env);
  for (unsigned verb = 0; verb < kMediaVerbs; ++verb)
    if ((player.cannot & (1U << verb)) != 0) cannot.Set(cannot.Length(), kVerbs.at(verb));
  object.Set("cannot", cannot);
  return object;
}

}  // namespace

Napi::Value toJs(Napi::Env env, const MediaSnapshot& snapshot) {
  auto object = Napi::Object::New(env);
  object.Set("absence", orNull(env, snapshot.absence));
  object.Set("isSettled", snapshot.isSettled);
  auto players = Napi::Array::New(env, snapshot.players.size());
  for (std::uint32_t i = 0; i < snapshot.players.size(); ++i)
    players.Set(i, playerOf(env, snapshot.players[i]));
  object.Set("players", players);
  object.Set("leftOut", snapshot.leftOut);
  return object;
}

Napi::Value toJs(Napi::Env env, const MediaReply& reply) {
  auto object = Napi::Object::New(env);
  object.Set("outcome", nameOf(env, kOutcomes, reply.outcome));
  if (reply.outcome != MediaOutcome::done) object.Set("reason", reply.reason);
  return object;
}

}  // namespace hostwire
