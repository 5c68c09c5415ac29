/** A foreign page learns nothing from answers that it may not read, by their duration or by their effects. */
import '../helpers/service/dead-buses.ts';
import t, { type Test } from 'tap';
import { probe, type Sight } from '../browser/attack/oracle.ts';
import { reasonAgainstBus } from '../browser/attack/siege.ts';
import { skipBrowser } from '../browser/browser.ts';
import { accuracyOn, describe, mediansOf, percent, type Sample } from '../browser/timing/classifier.ts';
import { ForeignPage } from '../browser/timing/foreign-page.ts';
import { replayChanging, replayPair, warmUp } from '../browser/timing/replay.ts';
import { PAIRS, type Started, startServices, VARIANTS } from '../browser/timing/services.ts';

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

const PATHS = [
  '/',
  '/api/usage',
  '/api/system',
  '/api/stream',
  '/api/ws',
  '/api/pw',
  '/api/media/status',
  '/api/media/art',
  '/api/media/art?player=nobody',
  '/api/processes',
  '/api/processes/sleep',
  '/api/processes/slaap',
  '/api/openapi.json',
  '/api/nothing',
];

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

async function checkReplays(
  t: Test,
  page: ForeignPage,
  { guarded, unguarded, changing }: Started,
): Promise<void> {
  const heads = await page.recordHeads();
  await warmUp([guarded.open, changing], heads.fetch);
  const hidden: number[] = [];
  const controls: number[] = [];
  for (const [index, pair] of PAIRS.entries()) {
    const { name } = pair;
    const isChanging = pair.first.variant !== pair.second.variant;
    const samples = isChanging
      ? await replayChanging(changing, pair, heads.fetch, REPLAYED, index)
      : await replayPair(guarded, pair, heads.fetch, REPLAYED, index);
    if (name === BELOW_CLOCK) checkBelowClock(t, samples, name);
    else hidden.push(checkHidden(t, samples, name));
    const control = await replayPair(unguarded, pair, heads.fetch, CONTROLS, index);
    if (FOUND.has(name)) controls.push(checkControl(t, control, name));
    else t.comment(`guard off, ${name}: ${describe(control)}`);
  }
  for (const way of REFUSED)
    for (const pair of FIRST_PAIR) {
      hidden.push(checkHidden(t, await replayPair(guarded, pair, heads[way], REPLAYED, 1), way));
      controls.push(checkControl(t, await replayPair(unguarded, pair, heads[way], CONTROLS, 1), way));
    }
  reportRange(t, `${hidden.length} pairs by the bytes of a browser's request`, hidden, controls);
  for (const way of SERVED)
    for (const pair of FIRST_PAIR)
      t.comment(
        `figure: not hidden, ${way}: ${percent(accuracyOn(await replayPair(guarded, pair, heads[way], CONTROLS, 1)).best)}`,
      );
}

/** Checks that `path` looks the same for every variant, and every path the same as one that does not exist. */
async function checkSights(t: Test, page: ForeignPage, { guarded }: Started): Promise<void> {
  let reference: Sight | undefined;
  for (const path of PATHS)
    for (const variant of VARIANTS) {
      // As `probe` makes it.
      const sight = JSON.parse(
        String(await page.plain.evaluate(probe(guarded[variant].baseUrl + path, true))),
      ) as Sight;
      reference ??= sight;
      t.ok(Object.keys(sight).length >= 15, `${Object.keys(sight).length} ways to load`);
      t.strictSame(sight, reference, `${path}, ${variant}`);
    }
  t.comment(
    `figure: ${PATHS.length} paths of ${VARIANTS.length} services loaded in ${Object.keys(reference ?? {}).length} ways in ${page.version}, all alike`,
  );
}

const skip = skipBrowser || reasonAgainstBus;
t.setTimeout(3_000_000);

t.test('a foreign page', { skip }, async (t) => {
  const services = await startServices(t);
  const page = await ForeignPage.open(t);
  // Without the noise of a browser, which finds less.
  await t.test('cannot classify by the duration, measured from Node', (t) => checkReplays(t, page, services));
  await t.test('sees the same of every path', (t) => checkSights(t, page, services));
});
