/**
 * Reads one machine over and over, each time with another call of the addon failing once, and prints one line of JSON
 * each time. Started by test/native/slow/failing-calls.test.ts with fail_nth.c preloaded.
 */
import '../helpers/service/dead-buses.ts';
import { readdirSync } from 'node:fs';
import { constants } from 'node:os';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { ALL_SECTIONS, type Counters, SECTIONS } from '#src/host/host.js';
import { openNativeHost, openNativeProcesses, type Roots } from '#src/host/native.js';
import { type Baseline, NO_BASELINE } from '#src/stats/baseline.js';
import { DETAIL_KEYS, failedParts } from '#src/stats/details.js';
import { Failures } from '#src/stats/failures.js';
import { deriveSample } from '#src/stats/sample.js';
import { Encoded, viewOf } from '#src/stats/view.js';
import { FailControl, type FailureKind } from '../helpers/machine/fail-control.ts';

export interface FailingRun {
  readonly roots: Roots;
  readonly control: string;
  readonly kind: FailureKind;
  /** Which calls fail: `first`, `first + step`, … until there is none. */
  readonly first: number;
  readonly step: number;
}

/** The outcome of the failure of one call. */
export interface FailedCall {
  readonly nth: number;
  readonly what: string;
  readonly errno: string;
  /** The lines that were logged. */
  readonly logged: readonly string[];
  /** Whether every missing value was back without waiting for the next search for devices. */
  readonly isBackAtOnce: boolean;
  /** Faults; should be empty. */
  readonly problems: readonly string[];
}

/** The last line. */
export interface FailingEnd {
  readonly descriptorsBefore: number;
  readonly descriptorsAfter: number;
}

const { EIO, EMFILE, ENOMEM, EACCES } = constants.errno;
const ERRORS = Object.entries({ EIO, EMFILE, ENOMEM, EACCES });
const ROUNDS_ARMED = 3;
const ROUND_MS = 4;
/** The clock is set ahead five times in these, in all longer than between two questions to a drive (300 s). */
const MAX_ROUNDS = 72;
/** Longer than any interval between two searches for devices, sensors or links. */
const NEXT_LOOK_SECONDS = 61;

/** The keys of one reading. Processes have their own reader, and a machine without limits has none to report. */
const READ_KEYS = [...SECTIONS, ...DETAIL_KEYS.filter((key) => key !== 'processes' && key !== 'limits')];

/** Keys whose values may be negative: degrees and decibels. */
const SIGNED = /celsius|temperature|dbm|^value$/i;

function* wrongNumbers(value: unknown, at: string): Generator<string> {
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) yield `${at} is ${value}`;
    if (value < 0 && !SIGNED.test(at.slice(at.lastIndexOf('.') + 1))) yield `${at} is ${value}`;
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) yield* wrongNumbers(inner, `${at}.${key}`);
  }
}

/** The structure of a reading, without values that depend on the moment or the machine. */
function shapeOf(counters: Counters, system: unknown, processes: unknown): string {
  const { takenAtNs: _, sinceBootNs: __, unixMs: ___, networkTakenAtNs: ____, ...rest } = counters;
  return JSON.stringify({ rest, system, processes }, (_key, value) =>
    typeof value === 'number' ? 'number' : value,
  );
}

class Machine {
  readonly #host;
  readonly #processes;
  readonly #failures = new Failures((section, reason) => this.logged.push(`${section}: ${reason ?? 'back'}`));
  #baseline: Baseline = NO_BASELINE;
  readonly logged: string[] = [];
  readonly problems: string[] = [];

  constructor(roots: Roots) {
    this.#host = openNativeHost({ ...roots, gpuRetryMs: 1 });
    this.#processes = openNativeProcesses(roots);
  }

  /** Reads everything as the sampler does; returns the shape. */
  async read(mayThrow: boolean): Promise<string> {
    let counters: Counters | undefined;
    try {
      counters = this.#host.readCounters(ALL_SECTIONS, true, 0);
    } catch (error) {
      if (!mayThrow || !(error instanceof Error)) this.problems.push(`readCounters threw ${error}`);
      this.#failures.noteHost(String(error));
    }
    if (counters !== undefined) this.#judge(counters);
    const system = await this.#host.readSystem().catch((error: unknown) => this.#judgeError(error));
    await this.#host.readWakeOnLan().catch((error: unknown) => this.#judgeError(error));
    const processes = await this.#processes.read().catch((error: unknown) => this.#judgeError(error));
    this.#processes.ask(0);
    this.#processes.latest();
    const seen = !(processes instanceof Error) && processes.pids.length > 0;
    return counters === undefined ? '' : shapeOf(counters, system instanceof Error ? 'none' : system, seen);
  }

  #judge(counters: Counters): void {
    this.#failures.note(viewOf(ALL_SECTIONS, true), counters.failures);
    this.#failures.noteParts(failedParts(counters));
    const missing = READ_KEYS.filter((key) => counters[key] == null);
    for (const key of missing)
      if (!counters.failures?.[key]) this.problems.push(`${key} is missing and nothing says why`);
    if (missing.length > 1) this.problems.push(`one failure cost ${missing.join(' and ')}`);
    const about = { interval_seconds: 2, host: 'fixture' };
    const { sample, baseline } = deriveSample(this.#baseline, counters, about);
    this.#baseline = baseline;
    this.problems.push(...wrongNumbers(sample, 'sample'));
    const parsed: unknown = JSON.parse(new Encoded(sample).json(viewOf(ALL_SECTIONS, true)));
    for (const section of SECTIONS)
      if (typeof parsed !== 'object' || parsed === null || !(section in parsed))
        if (!missing.includes(section)) this.problems.push(`${section} is not in the payload`);
  }

  #judgeError(error: unknown): Error {
    if (error instanceof Error) return error;
    this.problems.push(`rejected with ${error}`);
    return new Error('rejected');
  }
}

/** The shape that a reading without any failure settles to. */
async function settle(roots: Roots): Promise<string> {
  const machine = new Machine(roots);
  let shape = '';
  for (let round = 0; round < 30; round++) {
    shape = await machine.read(false);
    await sleep(ROUND_MS);
  }
  if (machine.problems.length > 0) throw new Error(machine.problems.join('; '));
  return shape;
}

function difference(shape: string, whole: string): string {
  let at = 0;
  while (at < shape.length && shape[at] === whole[at]) at++;
  return `…${shape.slice(Math.max(0, at - 60), at + 60)}… for …${whole.slice(Math.max(0, at - 60), at + 60)}…`;
}

/** Returns false when there are fewer calls than `nth`. */
async function failOnce(run: FailingRun, control: FailControl, nth: number, whole: string): Promise<boolean> {
  const [errno, code] = ERRORS[nth % ERRORS.length] ?? ['EIO', EIO];
  control.setClockAhead(0);
  control.arm(run.kind, nth, code);
  let machine: Machine | undefined;
  const problems: string[] = [];
  try {
    machine = new Machine(run.roots);
    for (let round = 0; round < ROUNDS_ARMED; round++) {
      await machine.read(run.kind === 'allocation');
      await sleep(ROUND_MS);
    }
  } catch (error) {
    if (run.kind === 'call' || !(error instanceof Error)) problems.push(`opening threw ${error}`);
  }
  const isReached = control.count >= nth;
  control.disarm();
  if (!isReached) return false;
  machine ??= new Machine(run.roots);
  let shape = '';
  let round = 0;
  for (; shape !== whole && round < MAX_ROUNDS; round++) {
    if (round % 12 === 11) control.setClockAhead(NEXT_LOOK_SECONDS * ((round + 1) / 12));
    shape = await machine.read(false);
    if (shape !== whole) await sleep(ROUND_MS);
  }
  problems.push(...machine.problems);
  // A function that the loader does not find counts as missing in an older driver: it stays missing.
  const isForGood = control.what.startsWith('dlsym ');
  if (shape !== whole && !isForGood) problems.push(`not whole again: ${difference(shape, whole)}`);
  const { logged } = machine;
  // "back" may come once after each reason.
  const reasons = logged.filter((line) => !line.endsWith(': back'));
  if (new Set(reasons).size < reasons.length) problems.push(`logged twice: ${logged.join(' | ')}`);
  const line: FailedCall = { nth, what: control.what, errno, logged, isBackAtOnce: round < 12, problems };
  console.log(JSON.stringify(line));
  return true;
}

const descriptorCount = () => readdirSync('/proc/self/fd').length;

async function collect(): Promise<void> {
  for (let i = 0; i < 4; i++) {
    globalThis.gc?.();
    await sleep(10);
  }
}

// Written by the test that starts this.
const run = JSON.parse(process.argv[2] ?? '') as FailingRun;
const control = new FailControl(run.control);
const whole = await settle(run.roots);
await collect();
const descriptorsBefore = descriptorCount();
for (let nth = run.first; await failOnce(run, control, nth, whole); nth += run.step);
await collect();
const end: FailingEnd = { descriptorsBefore, descriptorsAfter: descriptorCount() };
console.log(JSON.stringify(end));
control.close();
