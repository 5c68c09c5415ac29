// Reads a player's message.
#include "linux/media/mpris_news.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hostwire {
namespace {

// Longer than any title.
constexpr std::size_t kMaxTextBytes = 4096;
// Longer than a signed address of a content delivery network: servers refuse more than 8 or 16 KiB.
constexpr std::size_t kMaxAddressBytes = 16384;
// Entries of one dictionary, artists of one track: real ones have about twenty.
constexpr std::size_t kMaxEntries = 256;
constexpr double kMicroseconds = 1e-6;
// About three years; a larger value is a player's mistake.
constexpr double kMaxSeconds = 1e8;
constexpr double kMaxRate = 100;
constexpr double kMaxVolume = 100;

template <class Value, class Read>
std::optional<Value> boxed(BodyReader& body, const Read& read) {
  std::optional<Value> value;
  body.variant([&] { value = read(); });
  return value;
}

std::optional<std::string> boxedText(BodyReader& body) {
  return boxed<std::string>(body, [&] { return body.text(kMaxTextBytes); });
}

// A truncated address or id is worthless, so a longer one is absent. `isLong` is set for a data: URI that is
// too long.
std::optional<std::string> boxedWhole(BodyReader& body, std::size_t maxBytes, bool* isLong = nullptr) {
  // A text that was cut lacks at most the three bytes of a character that did not fit.
  auto text = boxed<std::string>(body, [&] { return body.text(maxBytes + 4); });
  if (!text || text->size() <= maxBytes) return text;
  if (isLong != nullptr) *isLong = text->starts_with("data:");
  return std::nullopt;
}

std::optional<bool> boxedBoolean(BodyReader& body) {
  return boxed<bool>(body, [&] { return body.boolean(); });
}

std::optional<double> finite(std::optional<double> number) {
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::optional<double> boxedNumber(BodyReader& body) {
  return boxed<double>(body, [&] { return finite(body.number()); });
}

std::optional<double> boxedWithin(BodyReader& body, double min, double max) {
  const auto number = boxedNumber(body);
  if (!number) return std::nullopt;
  return std::clamp(*number, min, max);
}

std::optional<double> positionOf(std::optional<double> microseconds) {
  if (!microseconds) return std::nullopt;
  return std::clamp(*microseconds * kMicroseconds, 0.0, kMaxSeconds);
}

// Reads one text or several. Their total length is limited like one text's.
std::vector<std::string> boxedTexts(BodyReader& body) {
  std::vector<std::string> texts;
  std::size_t room = kMaxTextBytes;
  const auto take = [&] {
    auto text = body.text(room);
    if (!text || text->empty()) return;
    room -= text->size();
    texts.push_back(std::move(*text));
  };
  body.variant([&] {
    if (body.peek() == 'a')
      body.array(kMaxEntries, take);
    else
      take();
  });
  return texts;
}

std::optional<double> boxedDuration(BodyReader& body) {
  const auto length = boxedNumber(body);
  // Streams, which have no end, report zero.
  if (!length || *length <= 0 || *length * kMicroseconds > kMaxSeconds) return std::nullopt;
  return *length * kMicroseconds;
}

std::optional<TrackMetadata> boxedTrack(BodyReader& body) {
  std::optional<TrackMetadata> track;
  body.variant([&] {
    TrackMetadata read;
    std::vector<std::string> albumArtists;
    const bool isDictionary = body.dictionary(kMaxEntries, [&](std::string_view key) {
      if (key == "mpris:trackid")
        read.trackId = boxedWhole(body, kMaxTextBytes).value_or("");
      else if (key == "xesam:title")
        read.title = boxedText(body).value_or("");
      else if (key == "xesam:artist")
        read.artists = boxedTexts(body);
      else if (key == "xesam:albumArtist")
        albumArtists = boxedTexts(body);
      else if (key == "xesam:album")
        read.album = boxedText(body);
      else if (key == "mpris:artUrl")
        read.artUrl = boxedWhole(body, kMaxAddressBytes, &read.isArtLong);
      else if (key == "xesam:url")
        read.url = boxedWhole(body, kMaxAddressBytes);
      else if (key == "mpris:length")
        read.durationSeconds = boxedDuration(body);
    });
    if (read.artists.empty()) read.artists = std::move(albumArtists);
    if (isDictionary) track = std::move(read);
  });
  return track;
}

std::optional<Playback> boxedPlayback(BodyReader& body) {
  const auto text = boxedText(body);
  if (text == "Playing") return Playback::kPlaying;
  if (text == "Paused") return Playback::kPaused;
  if (text == "Stopped") return Playback::kStopped;
  return std::nullopt;
}

std::optional<Repeat> boxedRepeat(BodyReader& body) {
  const auto text = boxedText(body);
  if (text == "None") return Repeat::kNone;
  if (text == "Track") return Repeat::kTrack;
  if (text == "Playlist") return Repeat::kPlaylist;
  return std::nullopt;
}

void readProperty(BodyReader& body, std::string_view key, PlayerNews& news) {
  if (key == "PlaybackStatus")
    news.playback = boxedPlayback(body);
  else if (key == "Metadata")
    news.track = boxedTrack(body);
  else if (key == "Position")
    news.positionSeconds = readBoxedPosition(body);
  else if (key == "LoopStatus")
    news.repeat = boxedRepeat(body);
  else if (key == "Rate")
    news.rate = boxedWithin(body, -kMaxRate, kMaxRate);
  else if (key == "Shuffle")
    news.shuffle = boxedBoolean(body);
  else if (key == "Volume")
    news.volume = boxedWithin(body, 0, kMaxVolume);
  else if (key == "CanControl")
    news.canControl = boxedBoolean(body);
  else if (key == "CanPlay")
    news.canPlay = boxedBoolean(body);
  else if (key == "CanPause")
    news.canPause = boxedBoolean(body);
  else if (key == "CanGoNext")
    news.canGoNext = boxedBoolean(body);
  else if (key == "CanGoPrevious")
    news.canGoPrevious = boxedBoolean(body);
  else if (key == "CanSeek")
    news.canSeek = boxedBoolean(body);
}

}  // namespace

PlayerNews readPlayerNews(BodyReader& body) {
  PlayerNews news;
  body.dictionary(kMaxEntries, [&](std::string_view key) { readProperty(body, key, news); });
  return news;
}

std::optional<std::string> readBoxedArtUrl(BodyReader& body, std::size_t maxBytes) {
  std::optional<std::string> address;
  body.variant([&] {
    body.dictionary(kMaxEntries, [&](std::string_view key) {
      if (key == "mpris:artUrl") address = boxedWhole(body, maxBytes);
    });
  });
  return address;
}

std::optional<double> readBoxedPosition(BodyReader& body) { return positionOf(boxedNumber(body)); }

std::optional<double> readPosition(BodyReader& body) { return positionOf(finite(body.number())); }

}  // namespace hostwire
