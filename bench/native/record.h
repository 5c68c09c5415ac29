// The record of a sink: each event by its hash, and the subscribers that missed one or received one twice.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum { MAX_SUBSCRIBERS = 20000, KNOWN = 256, MAX_TICKS = 4096 };
struct Subscriber {
  int fd;
  uint8_t state;    // parser state of the protocol
  uint8_t matched;  // matched bytes of the header's end
  uint8_t chunked;  // matched bytes of that word in the headers
  bool isOpen, hasEvent, isStalled;
  bool hasId;        // its event starts with an id line of another server, which is not checked
  uint32_t left;     // remaining bytes of the chunk or the frame
  uint8_t head[10];  // of a frame
  uint32_t at;       // in the event
  uint8_t newlines;  // in a row
  uint64_t hash, lastHash;
  uint32_t events;    // in this window
  int64_t lastIndex;  // of its last event in this window; -1: none yet
};

// An event, and the number of subscribers that received it: an event that only one received is torn, or was
// skipped by the others. Events are numbered in order of arrival; a gap in the numbers is an event that only
// others received.
struct Event {
  uint64_t hash;
  uint32_t seen;
};

static struct Subscriber subscribers[MAX_SUBSCRIBERS];
static struct Event known[KNOWN];
static int64_t nextKnown, firstKnown;
static int size, opening;
static uint64_t events, bytes, torn, doubled, missed, backwards, alone, lost, ended, comments, rest;
static double spreads[MAX_TICKS];
static int ticks;
static double tickBegan, tickLast;
static uint64_t tickHash;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void endTick(void) {
  if (tickBegan > 0 && ticks < MAX_TICKS) spreads[ticks++] = tickLast - tickBegan;
  tickBegan = 0;
}

// Returns the number of the event with this hash; the next free number for a new event.
static int64_t indexOf(uint64_t hash) {
  for (int64_t index = nextKnown - 1; index >= firstKnown && index > nextKnown - KNOWN; index--) {
    struct Event* e = &known[index % KNOWN];
    if (e->hash != hash) continue;
    e->seen++;
    return index;
  }
  struct Event* e = &known[nextKnown % KNOWN];
  if (nextKnown - KNOWN > firstKnown && e->seen == 1) alone++;
  *e = (struct Event){hash, 1};
  return nextKnown++;
}

// Counts events missed by subscribers that received nothing at the end, and events that only one received;
// the first and last event of the window may still be in transit to the others.
static void settle(void) {
  for (int i = 0; i < size; i++) {
    const struct Subscriber* s = &subscribers[i];
    if (!s->isOpen || s->isStalled || !s->hasEvent) continue;
    const int64_t behind = nextKnown - 1 - (s->lastIndex < 0 ? firstKnown : s->lastIndex);
    if (behind > 1) missed += (uint64_t)(behind - 1);
  }
  for (int64_t index = nextKnown - 2; size > 1 && index > firstKnown && index > nextKnown - KNOWN; index--)
    alone += known[index % KNOWN].seen == 1;
}

static void sawEvent(struct Subscriber* s, uint64_t hash) {
  events++;
  s->events++;
  if (!s->hasEvent) {
    s->hasEvent = true;
    opening--;
  } else {
    const double at = now();
    if (hash != tickHash && at - tickLast > 100) {
      endTick();
      tickHash = hash;
      tickBegan = at;
    }
    if (hash == tickHash) tickLast = at;
  }
  const int64_t index = indexOf(hash);
  if (hash == s->lastHash)
    doubled++;
  else if (s->lastIndex > index)
    backwards++;
  else if (s->lastIndex >= 0)
    missed += (uint64_t)(index - s->lastIndex - 1);
  s->lastHash = hash;
  s->lastIndex = index;
}
