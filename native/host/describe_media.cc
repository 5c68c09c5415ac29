// Rows about players and media keys, the same for every platform.
#include "host/media.h"

namespace hostwire {
namespace {

std::string listVerbs(std::uint32_t verbs) {
  std::string list;
  for (unsigned verb = 0; verb < kMediaVerbs; ++verb)
    if ((verbs & (1U << verb)) != 0)
      list += (list.empty() ? "" : ", ") + std::string(kMediaVerbNames.at(verb));
  return list;
}

std::string describePlayer(const MediaPlayer& player) {
  const char* state =
      player.isSilent ? "does not answer" : kPlaybackNames.at(static_cast<std::size_t>(player.playback));
  const std::string limits = player.cannot == 0 ? "" : ", cannot " + listVerbs(player.cannot);
  return player.names.front() + " (" + state + limits + ")";
}

}  // namespace

Finding describePlayers(const MediaSnapshot& snapshot, const MediaSource& source) {
  if (snapshot.absence) return Finding::missing("media", source.absent, {*snapshot.absence, source.remedy});
  std::string list;
  bool isAnySilent = false;
  for (const MediaPlayer& player : snapshot.players) {
    list += (list.empty() ? "" : "; ") + describePlayer(player);
    isAnySilent = isAnySilent || player.isSilent;
  }
  if (list.empty()) list = "no players";
  if (snapshot.leftOut > 0) list += " and " + std::to_string(snapshot.leftOut) + " more";
  const std::string text = source.name + " answers: " + list;
  if (!isAnySilent) return Finding::works("media", text);
  return Finding::partly("media", text, {"a player does not answer", ""});
}

Finding describeKeys(const std::optional<Obstacle>& absence, bool areNeeded) {
  if (!absence)
    return Finding::works("keys", areNeeded ? "used, because no player can be reached" : "not needed");
  if (areNeeded) return Finding::missing("keys", "no media keys", *absence);
  return Finding::partly("keys", "no media keys", *absence);
}

}  // namespace hostwire
