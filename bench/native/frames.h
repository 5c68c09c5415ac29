// A WebSocket: the head of the upgrade, then frames; text frames that hold stats are the events.
#pragma once
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include "record.h"

enum FrameState { UPGRADE, FRAME_HEAD, PAYLOAD, CLOSED };
enum Opcode { TEXT = 1, CLOSE = 8, PING = 9 };

// The example key of RFC 6455, so that a server can have a constant answer; a mask of zero leaves the text
// unchanged.
static const char upgradeLines[] =
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
static const char subscribeMessage[] = "{\"op\":\"subscribe\",\"data\":{\"topics\":[\"stats\"]}}";
static const char statsPrefix[] = "{\"type\":\"system_stats\"";

static void sendFrame(int fd, enum Opcode opcode, const char* payload, size_t length) {
  char frame[6 + 125] = {(char)(0x80 | opcode), (char)(0x80 | length)};
  memcpy(frame + 6, payload, length);
  send(fd, frame, 6 + length, MSG_NOSIGNAL);
}

// Minimum length of the head; a payload length of 126 or 127 makes it longer.
static uint32_t headBytes(const struct Subscriber* s) {
  if (s->at < 2) return 2;
  const int length = s->head[1] & 0x7f;
  return length == 127 ? 10 : length == 126 ? 4 : 2;
}

static void beginPayload(struct Subscriber* s) {
  const int length = s->head[1] & 0x7f;
  uint64_t left = length;
  if (length >= 126) {
    left = 0;
    for (uint32_t i = 2; i < headBytes(s); i++) left = left << 8 | s->head[i];
  }
  // The servers of the bench do not mask, split or compress messages.
  if ((s->head[0] & 0x70) != 0 || (s->head[0] & 0x80) == 0 || (s->head[1] & 0x80) != 0 || left > 1 << 20)
    torn++;
  s->left = (uint32_t)left;
  s->at = 0;
  s->matched = 0;
  s->hash = 1469598103934665603ULL;
}

static void endFrame(struct Subscriber* s) {
  const int opcode = s->head[0] & 0x0f;
  if (opcode == TEXT && s->matched == sizeof statsPrefix - 1)
    sawEvent(s, s->hash);
  else if (opcode == TEXT)
    comments++;
  else if (opcode == PING)
    sendFrame(s->fd, 10, "", 0);
  else if (opcode != CLOSE)
    torn++;
  s->state = opcode == CLOSE ? CLOSED : FRAME_HEAD;
  s->at = 0;
}

static void eatPayload(struct Subscriber* s, const char* data, size_t length) {
  for (size_t i = 0; i < length; i++) {
    if (s->at < sizeof statsPrefix - 1) s->matched += data[i] == statsPrefix[s->at];
    s->hash = (s->hash ^ (uint8_t)data[i]) * 1099511628211ULL;
    s->at++;
  }
  s->left -= (uint32_t)length;
}

static void takeFrames(struct Subscriber* s, const char* data, size_t length) {
  static const char end[] = "\r\n\r\n";
  const char* const stop = data + length;
  while (data < stop) {
    if (s->state == CLOSED) return;
    if (s->state == UPGRADE) {
      s->matched = *data == end[s->matched] ? s->matched + 1 : *data == '\r';
      data++;
      if (s->matched < 4) continue;
      s->state = FRAME_HEAD;
      s->at = 0;
      sendFrame(s->fd, TEXT, subscribeMessage, sizeof subscribeMessage - 1);
    } else if (s->state == FRAME_HEAD) {
      s->head[s->at++] = (uint8_t)*data++;
      if (s->at < headBytes(s)) continue;
      beginPayload(s);
      s->state = PAYLOAD;
      if (s->left == 0) endFrame(s);
    } else {
      const size_t some = (size_t)(stop - data) < s->left ? (size_t)(stop - data) : s->left;
      eatPayload(s, data, some);
      data += some;
      if (s->left == 0) endFrame(s);
    }
  }
}
