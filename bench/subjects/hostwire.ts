/**
 * The service's sampler on the real machine: every tick is read, derived and encoded for the default view, or for the
 * detailed one with the argument `detail`.
 */
import process from 'node:process';
import type { Clock } from '#src/clock.js';
import { ALL_SECTIONS } from '#src/host/host.js';
import { openNativeHost } from '#src/host/native.js';
import { createLog } from '#src/log/log.js';
import { Sampler } from '#src/stats/sampler.js';
import { viewOf } from '#src/stats/view.js';
import { serve } from './serve.ts';

const view = viewOf(ALL_SECTIONS, process.argv[2] === 'detail');
let left = 0;
let bytes = 0;
let finish: () => void = () => undefined;

/** The clock for rounds back to back: each timer is due as soon as it is set. */
let isTimeMade = false;
let madeNowMs = 0;
let due: (() => void) | undefined;

const now = () => (isTimeMade ? madeNowMs : performance.now());
const clock: Clock = {
  now,
  sinceBoot: now,
  setTimer: (fire, delayMs) => {
    if (!isTimeMade) return setTimeout(fire, delayMs);
    due = fire;
    return fire;
  },
  clearTimer: (timer) => {
    due = undefined;
    // Only results of setTimer are passed; a fake timer needs no clearing.
    if (!isTimeMade) clearTimeout(timer as NodeJS.Timeout);
  },
};

const sampler = new Sampler({
  host: openNativeHost(),
  clock,
  intervalSeconds: 1,
  hostname: 'bench',
  log: createLog(() => undefined),
});
sampler.attach({
  publish(encoded) {
    bytes += encoded.event(view).length;
    left--;
    if (left === 0) finish();
  },
});

serve(async (count, intervalMs) => {
  left = count;
  isTimeMade = intervalMs === 0;
  sampler.setInterval(isTimeMade ? 1 : intervalMs / 1000);
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  sampler.subscribe(view);
  while (isTimeMade && left > 0) {
    madeNowMs += 1000;
    due?.();
  }
  await finished;
  sampler.unsubscribe(view);
  if (bytes === 0) throw new Error('nothing was encoded');
});
