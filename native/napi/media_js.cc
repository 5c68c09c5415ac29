// Converts players and replies to JavaScript objects.
#include "napi/media_js.h"

#include "napi/js.h"

namespace hostwire {

static Napi::Value js(Napi::Env env, MediaVerb verb) {
  return js(env, kMediaVerbNames.at(static_cast<std::size_t>(verb)));
}

static Napi::Value js(Napi::Env env, Playback playback) {
  return js(env, kPlaybackNames.at(static_cast<std::size_t>(playback)));
}

static Napi::Value js(Napi::Env env, Repeat repeat) {
  const auto name = [repeat] {
    switch (repeat) {
      case Repeat::kNone: return "none";
      case Repeat::kTrack: return "track";
      case Repeat::kPlaylist: break;
    }
    return "playlist";
  };
  return js(env, name());
}

static Napi::Value js(Napi::Env env, MediaOutcome outcome) {
  const auto name = [outcome] {
    switch (outcome) {
      case MediaOutcome::kDone: return "done";
      case MediaOutcome::kFailed: return "failed";
      case MediaOutcome::kGone: return "gone";
      case MediaOutcome::kUnanswered: break;
    }
    return "unanswered";
  };
  return js(env, name());
}

static std::vector<MediaVerb> missingVerbs(const MediaPlayer& player) {
  std::vector<MediaVerb> missing;
  for (unsigned verb = 0; verb < kMediaVerbs; ++verb)
    if ((player.cannot & (1U << verb)) != 0) missing.push_back(static_cast<MediaVerb>(verb));
  return missing;
}

static Napi::Value js(Napi::Env env, const MediaPlayer& player) {
  using Player = MediaPlayer;
  static const Shape shape{Key{"id", &Player::id},
                           Key{"names", &Player::names},
                           Key{"isSilent", &Player::isSilent},
                           Key{"playback", &Player::playback},
                           Key{"title", &Player::title},
                           Key{"artists", &Player::artists},
                           Key{"album", &Player::album},
                           Key{"artUrl", &Player::artUrl},
                           Key{"isArtLong", &Player::isArtLong},
                           Key{"url", &Player::url},
                           Key{"durationSeconds", &Player::durationSeconds},
                           Key{"positionSeconds", &Player::positionSeconds},
                           Key{"rate", &Player::rate},
                           Key{"shuffle", &Player::shuffle},
                           Key{"repeat", &Player::repeat},
                           Key{"volume", &Player::volume},
                           Key{"lastPlayedMs", &Player::lastPlayedMs},
                           Key{"cannot", missingVerbs}};
  return shape.make(env, player);
}

Napi::Value js(Napi::Env env, const MediaSnapshot& snapshot) {
  static const Shape shape{Key{"absence", &MediaSnapshot::absence},
                           Key{"isSettled", &MediaSnapshot::isSettled},
                           Key{"players", &MediaSnapshot::players}, Key{"leftOut", &MediaSnapshot::leftOut}};
  return shape.make(env, snapshot);
}

Napi::Value js(Napi::Env env, const MediaReply& reply) {
  static const Shape done{Key{"outcome", &MediaReply::outcome}};
  static const auto failed = done.with(Key{"reason", &MediaReply::reason});
  return reply.outcome == MediaOutcome::kDone ? done.make(env, reply) : failed.make(env, reply);
}

}  // namespace hostwire
