/** Classifies answers by their duration alone, as a page would that cannot read them. Pure. */
import { createRandom } from '../../helpers/random.ts';

/** One request and how long its answer took, in milliseconds. */
export interface Sample {
  /** Which of the two requests it was: the first of its pair (present, on) or the second (absent, off). */
  readonly isFirst: boolean;
  readonly tookMs: number;
}

/** Decides by a duration whether the request was the first of its pair. */
type Classifier = (tookMs: number) => boolean;

interface Accuracy {
  readonly threshold: number;
  readonly nearest: number;
  readonly histogram: number;
  /** The highest of the three. */
  readonly best: number;
}

/** `count` requests in random order, exactly half of them the first of the pair. */
export function randomOrder(count: number, seed: number): readonly boolean[] {
  const { below } = createRandom(seed + 1);
  const order = Array.from({ length: count }, (_, index) => index % 2 === 0);
  for (let last = order.length - 1; last > 0; last--) {
    const other = below(last + 1);
    const kept = order[last] === true;
    order[last] = order[other] === true;
    order[other] = kept;
  }
  return order;
}

const byDuration = (samples: readonly Sample[]) => [...samples].sort((a, b) => a.tookMs - b.tookMs);

/** The split of all durations into short and long that is right most often in training. */
function trainThreshold(training: readonly Sample[]): Classifier {
  const sorted = byDuration(training);
  const total = sorted.filter(({ isFirst }) => isFirst).length;
  let firstsBelow = 0;
  let limit = -Infinity;
  let isShortFirst = false;
  let mostRight = Math.max(total, sorted.length - total);
  if (mostRight !== total) isShortFirst = true;
  for (const [index, { isFirst, tookMs }] of sorted.entries()) {
    if (isFirst) firstsBelow++;
    // Equal durations are not split.
    if (sorted[index + 1]?.tookMs === tookMs) continue;
    const secondsAbove = sorted.length - index - 1 - (total - firstsBelow);
    const rightIfShort = firstsBelow + secondsAbove;
    for (const [right, isShort] of [
      [rightIfShort, true],
      [sorted.length - rightIfShort, false],
    ] as const)
      if (right > mostRight) [mostRight, limit, isShortFirst] = [right, tookMs, isShort];
  }
  return (tookMs) => tookMs <= limit === isShortFirst;
}

const NEIGHBOURS = 51;

/** The first index in `sorted` whose duration is at least `tookMs`. */
function indexAt(sorted: readonly Sample[], tookMs: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle]?.tookMs ?? Infinity) < tookMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The majority among the nearest durations in training. */
function trainNearest(training: readonly Sample[]): Classifier {
  const sorted = byDuration(training);
  const distance = (index: number, tookMs: number) => Math.abs((sorted[index]?.tookMs ?? Infinity) - tookMs);
  return (tookMs) => {
    let after = indexAt(sorted, tookMs);
    let before = after - 1;
    let firsts = 0;
    for (let count = 0; count < NEIGHBOURS; count++)
      if (distance(before, tookMs) <= distance(after, tookMs)) firsts += sorted[before--]?.isFirst ? 1 : 0;
      else firsts += sorted[after++]?.isFirst ? 1 : 0;
    return 2 * firsts > NEIGHBOURS;
  };
}

const BINS = 24;

/** The greater likelihood, by histograms whose bins hold equally many durations of the training. */
function trainHistogram(training: readonly Sample[]): Classifier {
  const sorted = byDuration(training);
  const edges = Array.from(
    { length: BINS - 1 },
    (_, bin) => sorted[Math.floor(((bin + 1) * sorted.length) / BINS)]?.tookMs ?? Infinity,
  );
  const binOf = (tookMs: number) => edges.filter((edge) => edge <= tookMs).length;
  const surplus = new Array<number>(BINS).fill(0);
  for (const { isFirst, tookMs } of training)
    surplus[binOf(tookMs)] = (surplus[binOf(tookMs)] ?? 0) + (isFirst ? 1 : -1);
  return (tookMs) => (surplus[binOf(tookMs)] ?? 0) > 0;
}

/** Trains each classifier on the first half of `samples`; returns the share of the other half that it gets right. */
export function accuracyOn(samples: readonly Sample[]): Accuracy {
  const training = samples.slice(0, samples.length >> 1);
  const test = samples.slice(samples.length >> 1);
  const share = (isFirst: Classifier) =>
    test.filter((sample) => isFirst(sample.tookMs) === sample.isFirst).length / test.length;
  const threshold = share(trainThreshold(training));
  const nearest = share(trainNearest(training));
  const histogram = share(trainHistogram(training));
  return { threshold, nearest, histogram, best: Math.max(threshold, nearest, histogram) };
}

export const percent = (share: number) => `${(100 * share).toFixed(1)} %`;

/** The best classifier, all of them, and the medians. */
export function describe(samples: readonly Sample[]): string {
  const { best, threshold, nearest, histogram } = accuracyOn(samples);
  const [first, second] = mediansOf(samples).map((ms) => (1000 * ms).toFixed(1));
  const all = [threshold, nearest, histogram].map(percent).join(', ');
  return `${percent(best)} (${all}; medians ${first} and ${second} µs)`;
}

/** The median duration of each side, in milliseconds. */
export function mediansOf(samples: readonly Sample[]): readonly [first: number, second: number] {
  const median = (isFirst: boolean) => {
    const own = byDuration(samples.filter((sample) => sample.isFirst === isFirst));
    return own[own.length >> 1]?.tookMs ?? Number.NaN;
  };
  return [median(true), median(false)];
}
