// Parses an event stream over HTTP: the head, the chunks, the events in them.
#pragma once
#include <stddef.h>

#include "record.h"

// RAW: a body that is not chunked.
enum State { HEAD, SIZE_CR, SIZE, SIZE_LF, DATA, DATA_CR, DATA_LF, RAW, ENDED };

// The event's bytes: `data: {…}\n\n`, or a comment such as `:\n\n`.
static void eat(struct Subscriber* s, const char* data, size_t length) {
  static const char prefix[] = "data: {";
  for (size_t i = 0; i < length; i++) {
    const char c = data[i];
    if (s->at == 0 && c == ':')
      s->hash = 0;
    else if (s->at == 0) {
      s->hash = 1469598103934665603ULL;
      s->hasId = c == 'i';
    }
    if (s->hash != 0) {
      if (!s->hasId && s->at < sizeof prefix - 1 && c != prefix[s->at]) torn++;
      s->hash = (s->hash ^ (uint8_t)c) * 1099511628211ULL;
    }
    s->at++;
    if (c != '\n') {
      s->newlines = 0;
      continue;
    }
    if (++s->newlines < 2) continue;
    if (s->hash == 0)
      comments++;
    else
      sawEvent(s, s->hash);
    s->at = 0;
    s->newlines = 0;
  }
}

static void takeChunks(struct Subscriber* s, const char* data, size_t length) {
  static const char end[] = "\r\n\r\n", chunked[] = "chunked";
  const char* const stop = data + length;
  while (data < stop) {
    switch (s->state) {
      case HEAD:
        s->matched = *data == end[s->matched] ? s->matched + 1 : *data == '\r';
        if (s->chunked < 7) s->chunked = *data == chunked[s->chunked] ? s->chunked + 1 : *data == 'c';
        if (s->matched == 4) {
          s->state = s->chunked == 7 ? SIZE : RAW;
          s->left = 0;
        }
        data++;
        break;
      case SIZE_CR: s->state = *data++ == '\r' ? SIZE_LF : (torn++, SIZE); break;
      case SIZE: {
        const char c = *data++;
        if (c == '\r')
          s->state = SIZE_LF;
        else if (c >= '0' && c <= '9')
          s->left = s->left * 16 + (uint32_t)(c - '0');
        else if ((c | 32) >= 'a' && (c | 32) <= 'f')
          s->left = s->left * 16 + (uint32_t)((c | 32) - 'a' + 10);
        else
          torn++;
        break;
      }
      case SIZE_LF:
        if (*data++ != '\n') torn++;
        s->state = s->left == 0 ? ENDED : DATA;
        break;
      case DATA: {
        size_t some = (size_t)(stop - data);
        if (some > s->left) some = s->left;
        eat(s, data, some);
        data += some;
        s->left -= (uint32_t)some;
        if (s->left == 0) s->state = DATA_CR;
        break;
      }
      case DATA_CR:
        if (*data++ != '\r') torn++;
        s->state = DATA_LF;
        break;
      case DATA_LF:
        if (*data++ != '\n') torn++;
        s->state = SIZE;
        break;
      case RAW: eat(s, data, (size_t)(stop - data)); return;
      default: return;
    }
  }
}
