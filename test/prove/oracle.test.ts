/** A foreign page learns nothing from the duration of answers that it may not read; test/browser/attack/oracle.ts: nor from their effects. */
import '../helpers/service/dead-buses.ts';
import t, { type Test } from 'tap';
import { reasonAgainstBus } from '../browser/attack/siege.ts';
import { accuracyOn, describe, mediansOf, percent, type Sample } from '../browser/timing/classifier.ts';
import { replayChanging, replayPair, warmUp } from '../browser/timing/replay.ts';
import { PAIRS, type Started, startServices } from '../browser/timing/services.ts';

/** Half of the samples train a classifier and half test it: the standard deviation of chance is 0.8 and 1.1 percent points. */
const REPLAYED = 8000;
/** Samples without the guard, where one in six suffices. */
const CONTROLS = 800;
const MAX_ACCURACY = 0.55;
const MIN_CONTROL = 0.6;

/** The pairs whose answers differ by tenths of a millisecond or more without the guard. */
const FOUND = new Set(['process sleep', 'process node', 'process chromium', 'art', 'auth']);
const FIRST_PAIR = PAIRS.slice(0, 1);

/** Ways to request that the guard refuses, beside fetch, and ways that it serves. */
const REFUSED = ['image', 'frame', 'object', 'window'] as const;
const SERVED = ['link', 'lan'] as const;

/** The heads of a foreign page's requests without their first lines, as Chromium and Firefox send what the guard reads. */
const headOf = (mode: string, destination: string, more = '') =>
  `Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: ${mode}\r\nSec-Fetch-Dest: ${destination}\r\n${more}\r\n`;
const HEADS = {
  fetch: headOf('no-cors', 'empty'),
  image: headOf('no-cors', 'image'),
  frame: headOf('navigate', 'iframe'),
  object: headOf('navigate', 'object'),
  // A script navigates a window that the visitor opened some time before.
  window: headOf('navigate', 'document'),
  link: headOf('navigate', 'document', 'Sec-Fetch-User: ?1\r\n'),
  // A fetch to a name of the network, without TLS.
  lan: '\r\n',
};

function checkHidden(t: Test, samples: readonly Sample[], what: string): number {
  const { best } = accuracyOn(samples);
  t.ok(best <= MAX_ACCURACY, `guard on, ${what}: ${describe(samples)}`);
  return best;
}

/**
 * A refusal for want of a key takes one microsecond less than one by the guard: a replay finds that on a quiet machine,
 * a page does not.
 */
const BELOW_CLOCK = 'auth';
/** The finest clock of a page. */
const CLOCK_MS = 0.005;

function checkBelowClock(t: Test, samples: readonly Sample[], what: string): void {
  const [first, second] = mediansOf(samples);
  t.ok(Math.abs(first - second) < CLOCK_MS, `guard on, ${what}: ${describe(samples)}`);
  t.comment(`figure: ${what} by replay, below the clock of a page: ${describe(samples)}`);
}

function checkControl(t: Test, samples: readonly Sample[], what: string): number {
  const { best } = accuracyOn(samples);
  t.ok(best > MIN_CONTROL, `guard off, ${what}: ${describe(samples)}`);
  return best;
}

/** `figure: what: highest with the guard, lowest without it`. */
function reportRange(t: Test, what: string, hidden: readonly number[], controls: readonly number[]): void {
  t.comment(
    `figure: ${what}: at most ${percent(Math.max(...hidden))} right with the guard, at least ${percent(Math.min(...controls))} without it`,
  );
}

async function checkReplays(t: Test, { guarded, unguarded, changing }: Started): Promise<void> {
  await warmUp([guarded.open, changing], HEADS.fetch);
  const hidden: number[] = [];
  const controls: number[] = [];
  for (const [index, pair] of PAIRS.entries()) {
    const { name } = pair;
    const isChanging = pair.first.variant !== pair.second.variant;
    const samples = isChanging
      ? await replayChanging(changing, pair, HEADS.fetch, REPLAYED, index)
      : await replayPair(guarded, pair, HEADS.fetch, REPLAYED, index);
    if (name === BELOW_CLOCK) checkBelowClock(t, samples, name);
    else hidden.push(checkHidden(t, samples, name));
    const control = await replayPair(unguarded, pair, HEADS.fetch, CONTROLS, index);
    if (FOUND.has(name)) controls.push(checkControl(t, control, name));
    else t.comment(`guard off, ${name}: ${describe(control)}`);
  }
  for (const way of REFUSED)
    for (const pair of FIRST_PAIR) {
      hidden.push(checkHidden(t, await replayPair(guarded, pair, HEADS[way], REPLAYED, 1), way));
      controls.push(checkControl(t, await replayPair(unguarded, pair, HEADS[way], CONTROLS, 1), way));
    }
  reportRange(t, `${hidden.length} pairs by the bytes of a browser's request`, hidden, controls);
  for (const way of SERVED)
    for (const pair of FIRST_PAIR)
      t.comment(
        `figure: not hidden, ${way}: ${percent(accuracyOn(await replayPair(guarded, pair, HEADS[way], CONTROLS, 1)).best)}`,
      );
}

t.setTimeout(3_000_000);

// Measured from Node, without the noise of a browser, which finds less.
t.test('a foreign page cannot classify by the duration', { skip: reasonAgainstBus }, async (t) => {
  await checkReplays(t, await startServices(t));
});
