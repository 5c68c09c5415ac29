/**
 * Captured machines through the addon and the derivation, compared with golden samples. After a wanted change:
 * `node scripts/golden.mjs`, then read each difference against the contract before it is committed.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { ALL_SECTIONS, type Counters, type Host } from '#src/host/host.js';
import { NO_BASELINE } from '#src/stats/baseline.js';
import { deriveSample, type Sample } from '#src/stats/sample.js';
import { deriveSystem } from '#src/stats/system.js';
import { Encoded, viewOf } from '#src/stats/view.js';
import { type FixtureMachine, openFixture, WINDOW_SECONDS } from '../helpers/machine/fixtures.ts';

const isWriting = process.env['HOSTWIRE_GOLDEN'] === 'write';
/** Enough for every prober to have answered; only waited out where an answer is missing. */
const PATIENCE_MS = isWriting ? 1500 : 5000;
/** Time limit of a test file; writing waits for all that may still come. */
export const LIMIT_MS = isWriting ? 600_000 : 280_000;

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

const FACTS = { version: '0', pid: 1, startedAt: 0, node: 'v0', platform: 'linux', isRoot: false };

async function readUntilSettled(
  host: Host,
  withDetail: boolean,
  isSettled: (counters: Counters) => boolean,
): Promise<Counters> {
  const end = performance.now() + PATIENCE_MS;
  while (true) {
    const counters = host.readCounters(ALL_SECTIONS, withDetail, 0);
    if ((!isWriting && isSettled(counters)) || performance.now() > end) return counters;
    await sleep(10);
  }
}

/** The values that need a second reading. */
const NEEDS_WINDOW =
  /^(window_seconds|current_load|cores|breakdown|read_rate|write_rate|busy_percent|send_rate|receive_rate|power_watts|throttled_percent)$/;

/** By default an unknown temperature or speed is 0. */
const ZERO_IS_UNKNOWN = /^current_(temp|speed)$/;

/** Whether `value` has an answer wherever `golden` has one. */
function isAnswered(value: Json | undefined, golden: Json): boolean {
  if (golden === null) return true;
  if (value === undefined || value === null) return false;
  if (typeof golden !== 'object') return true;
  // Both are plain JSON: arrays are objects with numbers as keys.
  const there = value as Readonly<Record<string, Json>>;
  return Object.entries(golden).every(
    ([key, part]) =>
      NEEDS_WINDOW.test(key) ||
      (isAnswered(there[key], part) && (part === 0 || there[key] !== 0 || !ZERO_IS_UNKNOWN.test(key))),
  );
}

const plain = (value: unknown): Json => JSON.parse(JSON.stringify(value));

/** Long lists of machines that have very many of something: the ends to look at, a digest for the rest. */
const LONGEST_SHOWN = 24;

function fold(value: Json): Json {
  if (value === null || typeof value !== 'object') return value;
  if (!Array.isArray(value))
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, fold(part)]));
  if (value.length <= LONGEST_SHOWN) return value.map(fold);
  const sha256 = createHash('sha256').update(JSON.stringify(value)).digest('hex');
  return {
    length: value.length,
    first: value.slice(0, 3).map(fold),
    last: value.slice(-2).map(fold),
    sha256,
  };
}

const shown = (machine: FixtureMachine, value: unknown): Json =>
  machine.facts.generator === undefined ? plain(value) : fold(plain(value));

function payload(machine: FixtureMachine, sample: Sample, withDetail: boolean): Json {
  return shown(machine, JSON.parse(new Encoded(sample).json(viewOf(ALL_SECTIONS, withDetail))));
}

function readGolden(machine: FixtureMachine, name: string): Json {
  const file = path.join(machine.folder, name);
  if (isWriting || !existsSync(file)) return null;
  return JSON.parse(readFileSync(file, 'utf8'));
}

function writeGolden(machine: FixtureMachine, name: string, found: Json): void {
  writeFileSync(path.join(machine.folder, name), `${JSON.stringify(found, null, 2)}\n`);
}

/** Whether the processor's power is known in a golden sample. */
function hasPower(golden: Json): boolean {
  // Both are plain JSON, whose keys are looked at only where they are there.
  const { cpu } = (golden ?? {}) as { readonly cpu?: { readonly power_watts?: number | null } | null };
  return typeof cpu?.power_watts === 'number';
}

const same = (a: Json, b: Json) => JSON.stringify(a) === JSON.stringify(b);

/** The sample that the machine's two readings make; read until it is `golden`, or until the time is up. */
async function sampleOf(machine: FixtureMachine, withDetail: boolean, golden: Json): Promise<Sample> {
  const host = machine.openHost();
  const facts = withDetail
    ? { interval_seconds: WINDOW_SECONDS, host: (await host.readSystem()).hostname }
    : undefined;
  machine.setMoment('before');
  const derive = (counters: Counters, moment: 'before' | 'after', baseline = NO_BASELINE) =>
    deriveSample(baseline, machine.atMoment(counters, moment), facts);
  // The counters from which the power is derived must be in the first reading, too.
  const hasEnergy = ({ cpu }: Counters) => !hasPower(golden) || !cpu || cpu.energy !== null;
  const first = await readUntilSettled(
    host,
    withDetail,
    (counters) =>
      hasEnergy(counters) &&
      isAnswered(payload(machine, derive(counters, 'before').sample, withDetail), golden),
  );
  const { baseline } = derive(first, 'before');
  machine.setMoment('after');
  const second = await readUntilSettled(host, withDetail, (counters) =>
    same(payload(machine, derive(counters, 'after', baseline).sample, withDetail), golden),
  );
  return derive(second, 'after', baseline).sample;
}

/** Compares what is read of the machine `name` with its golden samples, or writes them. */
export async function checkMachine(t: Test, name: string): Promise<void> {
  const machine = openFixture(t, name);
  t.comment(machine.facts.note);
  const compare = (file: string, found: Json) => {
    if (isWriting) writeGolden(machine, file, found);
    else t.strictSame(found, readGolden(machine, file), file);
  };
  const goldenDefault = readGolden(machine, 'golden/default.json');
  compare('golden/default.json', payload(machine, await sampleOf(machine, false, goldenDefault), false));
  const goldenDetail = readGolden(machine, 'golden/detail.json');
  const detailed = await sampleOf(machine, true, goldenDetail);
  compare('golden/detail.json', payload(machine, detailed, true));
  const found = new Set(detailed.disks?.stats.map((disk) => disk.fs));
  const answering = Object.entries(machine.facts.statvfs).filter(([, vfs]) => vfs !== null);
  t.strictSame([...found].sort(), answering.map(([point]) => point).sort(), 'exactly these mounts are shown');
  const info = await machine.openHost().readSystem();
  // The architecture is that of the machine that runs the test, not a fact about the captured one.
  const system = shown(machine, {
    ...deriveSystem(info, detailed, FACTS),
    os: { ...info.os, arch: undefined },
  });
  compare('golden/system.json', system);
}
