/** CPU time of reading 10,000 processes, compared with a C loop that reads the same files. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { openNativeProcesses } from '#src/host/native.js';
import { advanceWindow, deriveProcessSummary, type ProcessWindow } from '#src/processes/shares.js';
import { abba, median } from './cpu.ts';
import { BUILD, publish, ROOT } from './report.ts';
import { Subject } from './subject.ts';

const PROCESSES = 10_000;
/** Seconds after which they end, even if the bench is killed. */
const LIFE_SECONDS = 170;
const LIMIT = 1.5;

interface Plan {
  readonly what: string;
  /** The argument of the floor and of the subject. */
  readonly mode: 'samples' | 'list';
  readonly intervalMs: number;
  readonly count: number;
  readonly blocks: number;
}

const PLANS: readonly Plan[] = [
  { what: 'a list, back to back', mode: 'list', intervalMs: 0, count: 10, blocks: 4 },
  { what: 'for samples, 1 per second', mode: 'samples', intervalMs: 1000, count: 5, blocks: 2 },
];

function compile(name: string): string {
  mkdirSync(BUILD, { recursive: true });
  const binary = path.join(BUILD, name);
  const source = path.join(ROOT, `bench/native/${name}.c`);
  const flags = ['-O2', '-Wall', '-Wextra', '-Werror', '-static', '-o', binary, source];
  if (spawnSync('gcc', flags, { stdio: 'inherit' }).status !== 0) throw new Error(`${name} was not compiled`);
  return binary;
}

async function startSleepers(): Promise<ChildProcess> {
  const child = spawn(compile('sleepers'), [String(PROCESSES), String(LIFE_SECONDS)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  if (child.stdout === null) throw new Error('no output');
  for await (const line of createInterface(child.stdout)) {
    if (line === 'ready') return child;
    throw new Error(`this machine cannot start ${PROCESSES} processes: ${line}`);
  }
  throw new Error('the sleepers ended');
}

async function measure(plan: Plan, subjects: ReadonlyMap<string, Subject>): Promise<Map<string, number[]>> {
  const blocks = new Map<string, number[]>();
  for (const subject of subjects.values()) await subject.run(2, plan.intervalMs);
  for (let block = 0; block < plan.blocks; block++)
    for (const name of abba([...subjects.keys()])) {
      const ns = (await subjects.get(name)?.run(plan.count, plan.intervalMs)) ?? Number.NaN;
      blocks.set(name, [...(blocks.get(name) ?? []), ns / plan.count]);
    }
  return blocks;
}

/** Returns how long a detailed sample occupies the JavaScript thread, in milliseconds; the median of ten. */
async function measureOccupied(): Promise<number> {
  const host = openNativeProcesses();
  const times: number[] = [];
  let window: ProcessWindow | undefined;
  while (times.length < 14) {
    host.ask(0);
    await sleep(500);
    const began = performance.now();
    const columns = host.latest();
    if (columns === null) continue;
    window = advanceWindow(window, columns, 1e12);
    deriveProcessSummary(window);
    times.push(performance.now() - began);
  }
  return median(times.slice(4));
}

async function measurePlan(plan: Plan, floor: string) {
  const subject = path.join(ROOT, 'build/ts/bench/subjects/processes.js');
  const subjects = new Map([
    ['floor', new Subject(floor, [plan.mode])],
    ['kept', new Subject(floor, ['kept'])],
    ['hostwire', new Subject(process.execPath, [subject, plan.mode])],
  ]);
  try {
    const blocks = await measure(plan, subjects);
    const us = (name: string) => median(blocks.get(name) ?? []) / 1000 / PROCESSES;
    return { plan, us, ratio: us('hostwire') / us('floor'), blocks: Object.fromEntries(blocks) };
  } finally {
    for (const each of subjects.values()) await each.stop();
  }
}

export async function run(): Promise<void> {
  const floor = compile('process_floor');
  const sleepers = await startSleepers();
  try {
    const results = [];
    for (const plan of PLANS) results.push(await measurePlan(plan, floor));
    const occupiedMs = await measureOccupied();
    const row = (plan: Plan, what: string, us: number, ratio: number) => [
      plan.what,
      what,
      `${us.toFixed(2)} µs`,
      ratio.toFixed(2),
    ];
    publish({
      name: 'processes',
      columns: ['reading', 'what', 'CPU time per process, all threads', 'ratio to floor'],
      rows: results.flatMap(({ plan, us, ratio }) => [
        row(plan, 'C: list, open, read, close', us('floor'), 1),
        row(plan, 'C: list, read on kept descriptors', us('kept'), us('kept') / us('floor')),
        row(plan, 'hostwire: read, parse, derive, encode', us('hostwire'), ratio),
      ]),
      targets: results.map(({ plan, ratio }) => ({
        what: plan.what,
        measured: ratio,
        limit: LIMIT,
        unit: '× floor',
      })),
      notes: [
        `${PROCESSES} sleeping processes beside those of the machine; medians over blocks in ABBA order.`,
        `A detailed sample occupies the JavaScript thread for ${occupiedMs.toFixed(2)} ms (median), to copy the columns and pick the top rows; everything else runs on other threads.`,
      ],
      figures: { occupiedMs, plans: results.map(({ plan, blocks, ratio }) => ({ ...plan, ratio, blocks })) },
    });
  } finally {
    const ended = once(sleepers, 'exit');
    sleepers.stdin?.end();
    await ended;
  }
}
