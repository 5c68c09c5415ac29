/** Checks and figures of two hubs: no event is lost, the cost of samples, and their delays. */
import { availableParallelism } from 'node:os';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import type { EventStream } from '../../helpers/clients/event-stream.ts';
import { checkTime } from '../../helpers/limits.ts';
import { TEST_ENGINE } from '../../helpers/service/engine.ts';
import { until } from '../../helpers/until.ts';
import { type Crowd, seenBy } from './crowds.ts';
import type { Kept, MeasuredHub } from './measured.ts';
import {
  HOSTS,
  type Parts,
  type Reading,
  read,
  startParts,
  startViewers,
  VIEWERS,
  type Way,
  watchReal,
} from './two-hubs.ts';

const SECONDS = process.env['HOSTWIRE_FULL'] === '1' ? 600 : 15;
/** Two rounds of checks of agents to which the hub connects. */
const REST_MS = 14_000;
const MAX_HOST_KIB = 8;
/** Memory that a viewer may keep in a hub, the former limit of a service's subscriber. */
const VIEWER_KIB = 0.84;

const keptBy = async (hubs: readonly MeasuredHub[]) => await Promise.all(hubs.map((hub) => hub.kept()));
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** KiB per host of both hubs, from one measurement to another. */
function perHost(from: readonly Kept[], to: readonly Kept[]) {
  const of = (key: keyof Kept) =>
    mean(to.map((kept, i) => kept[key] - (from[i]?.[key] ?? Number.NaN))) / HOSTS;
  return { live: of('live'), used: of('used'), anonymous: of('anonymous') };
}

/** Whether a viewer saw all events of another, from its own event `from` on; `left`: how many that one had since its last. */
function compare(own: EventStream, seen: EventStream, from: number) {
  own.count();
  seen.count();
  const sent = own.events.map(({ text }) => text);
  const got = seen.events.slice(from).map(({ text }) => text);
  const start = sent.indexOf(got[0] ?? '');
  return {
    isWhole: start >= 0 && got.every((text, i) => text === sent[start + i]),
    compared: got.length,
    left: sent.length - start - got.length,
  };
}

function showCosts(t: Test, way: Way, a: Reading, b: Reading): void {
  const since = (key: 'events' | 'passed') => b[key].map((value, i) => value - (a[key][i] ?? 0));
  const samples = b.samples - a.samples;
  const us = (key: 'agents' | 'broker' | 'viewers' | 'real' | 'machine') => (b.cpu[key] - a.cpu[key]) / 1000;
  const hubs = b.cpu.hubs.map((ns, i) => (ns - (a.cpu.hubs[i] ?? 0)) / 1000);
  const [events, passed] = [since('events'), since('passed')];
  const each = (of: readonly number[], digits: number) =>
    hubs.map((spent, i) => (spent / (of[i] ?? 0)).toFixed(digits)).join(' and ');
  const percent = (spent: number) => `${(spent / SECONDS / 1e4).toFixed(1)} %`;
  const broker = way === 'connected' ? '' : `${way} ${(us('broker') / samples).toFixed(0)} µs, `;
  t.comment(
    `figure: CPU time per sample: simulated agents ${(us('agents') / samples).toFixed(0)} µs, ` +
      `real ones with all that they read ${(us('real') / 2 / SECONDS).toFixed(0)} µs, ${broker}` +
      `hubs ${each(passed, 0)} µs with ${((events[0] ?? 0) / (passed[0] ?? 1)).toFixed(1)} events (${each(events, 1)} µs each); ` +
      `of a core: agents ${percent(us('agents'))}, broker ${percent(us('broker'))}, hubs ${hubs.map(percent).join(' and ')}, ` +
      `viewers ${percent(us('viewers'))}; the machine ${percent(us('machine'))} of ${availableParallelism()}00 %`,
  );
}

async function showEvents(t: Test, way: Way, viewers: readonly Crowd[], skipped: number): Promise<void> {
  const seen = await seenBy(viewers);
  t.equal(seen.lost + seen.lostBefore, 0, 'no event was lost');
  t.equal(seen.doubled, 0, 'none came twice');
  t.equal(seen.disordered, 0, 'none came out of order');
  t.equal(seen.ended, 0, 'no stream has ended');
  t.equal(skipped, 0, 'no viewer was full');
  const expected = viewers.length * VIEWERS * SECONDS;
  t.ok(seen.events > expected * 0.95, `${seen.events} events of ${expected}`);
  // With the algorithm of Nagle at a broker it is 14 ms.
  checkTime(t, seen.p50, 5, 'median delay');
  t.comment(
    `figure: ${way}, ${TEST_ENGINE}: ${seen.events} events in ${SECONDS} s to ${viewers.length} × ${VIEWERS} viewers of ${HOSTS} machines, ` +
      `${seen.lost} lost, ${seen.lostBefore} while viewers were opened, ${seen.doubled} doubled, ${seen.disordered} out of order, ${seen.ended} streams ended; ` +
      `delay p50 ${seen.p50.toFixed(1)} ms, p99 ${seen.p99.toFixed(1)} ms, at most ${seen.max.toFixed(0)} ms`,
  );
}

function showMemory(t: Test, at: Readonly<Record<'bare' | 'resting' | 'watched', readonly Kept[]>>): void {
  const resting = perHost(at.bare, at.resting);
  const watched = perHost(at.bare, at.watched);
  const limit = MAX_HOST_KIB + (VIEWER_KIB * VIEWERS) / HOSTS;
  t.ok(resting.live > 0.1 && resting.live < MAX_HOST_KIB, `${resting.live} KiB live per host`);
  // The rest of the process is mostly free: of samples that V8 has collected, and what it was warmed up with.
  t.ok(watched.live < limit, `${watched.live} KiB live per host with viewers, at most ${limit}`);
  const words = ({ live, used, anonymous }: Kept) =>
    `${live.toFixed(1)} KiB of V8, ${used.toFixed(1)} of the process without V8's free heap, ${anonymous.toFixed(1)} with it`;
  t.comment(
    `figure: a hub keeps per host without viewers ${words(resting)}; with ${VIEWERS / HOSTS} viewers ${words(watched)}`,
  );
}

/** Begins the comparison of those that see real agents at hubs with those that see them at the agent itself. */
function followReal(watched: Awaited<ReturnType<typeof watchReal>>) {
  const all = watched.flatMap(({ own, seen }) => seen.map((each) => ({ own, each, from: each.count() })));
  return () => all.map(({ own, each, from }) => compare(own, each, from));
}

function showReal(t: Test, all: ReturnType<ReturnType<typeof followReal>>): void {
  for (const found of all)
    t.ok(
      found.isWhole && found.left <= 2 && found.compared > SECONDS * 0.95,
      `all events of a real agent: ${JSON.stringify(found)}`,
    );
  t.comment(
    `figure: ${all.length} viewers of real agents saw each of ${all.map(({ compared }) => compared).join(', ')} events as the agent's own viewer did`,
  );
}

async function measure(parts: Parts, viewers: readonly Crowd[]): Promise<readonly [Reading, Reading]> {
  const before = await read(parts, viewers);
  for (const crowd of viewers) crowd.say('measure');
  await sleep(SECONDS * 1000);
  return [before, await read(parts, viewers)];
}

export async function showTwoHubs(t: Test, way: Way): Promise<void> {
  let bare: readonly Kept[] = [];
  const parts = await startParts(t, way, async (hubs) => {
    // V8 returns what the start took in several collections.
    for (let round = 0; round < 3; round++) {
      await sleep(2000);
      bare = await keptBy(hubs);
    }
  });
  const { hubs } = parts;
  await sleep(REST_MS);
  const resting = await keptBy(hubs);
  const viewers = await startViewers(t, hubs);
  const real = await watchReal(t, parts);
  await until(() => real.every(({ seen }) => seen.every((each) => each.count() > 1)));
  // The first samples are over: one that is new to one hub is sent to both.
  await sleep(2000);
  const followed = followReal(real);
  const [before, after] = await measure(parts, viewers);
  const same = followed();
  await showEvents(t, way, viewers, Math.max(...after.skipped));
  showCosts(t, way, before, after);
  showReal(t, same);
  showMemory(t, { bare, resting, watched: await keptBy(hubs) });
  for (const crowd of viewers) crowd.end();
}
