/** The programs around hubs that are measured, and what their viewers saw. */
import { type ChildProcess, spawn } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { Scope } from '../../helpers/scope.ts';
import { until } from '../../helpers/until.ts';
import type { Seen } from './crowd/viewers.ts';

export interface Crowd {
  readonly pid: number;
  /** Resolves when it is ready. */
  readonly ready: Promise<unknown>;
  readonly say: (line: string) => void;
  /** Says `line`, and returns the JSON that it prints then. */
  readonly ask: (line: string) => Promise<unknown>;
  readonly end: () => void;
}

/** `name`: of a program in crowd/. */
export function startCrowd(
  t: Scope,
  name: 'agents' | 'dial-agents' | 'mqtt-agents' | 'viewers',
  ...args: readonly (string | number)[]
): Crowd {
  const file = fileURLToPath(new URL(`./crowd/${name}.js`, import.meta.url));
  const child: ChildProcess = spawn(process.execPath, [file, ...args.map(String)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  const lines: string[] = [''];
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    const [first = '', ...others] = text.split('\n');
    lines.push(`${lines.pop()}${first}`, ...others);
  });
  let asked = 0;
  const line = async (index: number) =>
    await until(() => {
      if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}`);
      return lines.length > index + 1 ? lines[index] : undefined;
    });
  return {
    pid: child.pid ?? 0,
    ready: line(0),
    say: (text) => child.stdin?.write(`${text}\n`),
    async ask(text) {
      child.stdin?.write(`${text}\n`);
      return JSON.parse(await line(++asked));
    },
    end: () => child.stdin?.end(),
  };
}

/** Merges the results of several crowds of viewers. */
export function unite(all: readonly Seen[]) {
  const delays = new Map<number, number>();
  for (const seen of all)
    for (const [tenths, events] of seen.delays) delays.set(tenths, (delays.get(tenths) ?? 0) + events);
  const sorted = [...delays].sort(([a], [b]) => a - b);
  const sum = (key: 'events' | 'lost' | 'lostBefore' | 'doubled' | 'disordered' | 'ended') =>
    all.reduce((total, seen) => total + seen[key], 0);
  const events = sum('events');
  /** The upper end of the tenth of a millisecond in which it is. */
  const quantileMs = (q: number) => {
    let left = q * events;
    const found = sorted.find(([, count]) => {
      left -= count;
      return left <= 0;
    });
    return ((found?.[0] ?? Number.NaN) + 1) / 10;
  };
  return {
    events,
    lost: sum('lost'),
    lostBefore: sum('lostBefore'),
    doubled: sum('doubled'),
    disordered: sum('disordered'),
    ended: sum('ended'),
    p50: quantileMs(0.5),
    p99: quantileMs(0.99),
    max: Math.max(...all.map(({ maxMs }) => maxMs)),
  };
}

export const seenBy = async (viewers: readonly Crowd[]) =>
  unite(await Promise.all(viewers.map(async (each) => (await each.ask('report')) as Seen))); // As it prints it.
