/** Readings of this machine that share no code with the service: /proc, /sys and df, added up here. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** The values that a test reads itself, right after a message has arrived. */
export interface Reading {
  readonly atMs: number;
  readonly busy: number;
  readonly ticks: number;
  readonly memoryUsed: number;
  readonly uptime: number;
  readonly links: ReadonlyMap<string, { readonly sent: number; readonly received: number }>;
  readonly sectorsWritten: ReadonlyMap<string, number>;
}

const text = (file: string) => readFileSync(file, 'utf8');

export function readMachine(): Reading {
  const [, ...columns] = (text('/proc/stat').split('\n')[0] ?? '').split(/\s+/);
  const ticks = columns.slice(0, 8).map(Number);
  const all = ticks.reduce((sum, count) => sum + count, 0);
  const still = (ticks[3] ?? 0) + (ticks[4] ?? 0);
  const kib = (key: string) =>
    Number(new RegExp(`^${key}: +(\\d+) kB$`, 'm').exec(text('/proc/meminfo'))?.[1]);
  const links = text('/proc/net/dev')
    .split('\n')
    .slice(2)
    .flatMap((line) => {
      const [name, counts] = line.split(/: */);
      if (name === undefined || counts === undefined) return [];
      const numbers = counts.trim().split(/\s+/).map(Number);
      return [[name.trim(), { received: numbers[0] ?? 0, sent: numbers[8] ?? 0 }] as const];
    });
  const sectors = text('/proc/diskstats')
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .map((row) => [row[2] ?? '', Number(row[9])] as const);
  return {
    atMs: performance.now(),
    busy: all - still,
    ticks: all,
    memoryUsed: (kib('MemTotal') - kib('MemAvailable')) * 1024,
    uptime: Number(text('/proc/uptime').split(' ')[0]),
    links: new Map(links),
    sectorsWritten: new Map(sectors),
  };
}

/** The contract's rule, from /sys: devices that are not members, and bonds; otherwise all but lo; otherwise lo. */
export function countedNames(names: readonly string[]): readonly string[] {
  const has = (name: string, file: string) => existsSync(`/sys/class/net/${name}/${file}`);
  const free = names.filter((name) => !has(name, 'master'));
  const real = free.filter((name) => has(name, 'device') || has(name, 'bonding'));
  if (real.length > 0) return real;
  return free.some((name) => name !== 'lo') ? free.filter((name) => name !== 'lo') : free;
}

/** target → used and available, as df reports them. */
export function askDf(): ReadonlyMap<string, { readonly used: number; readonly available: number }> {
  const { stdout } = spawnSync('df', ['-a', '-B1', '--output=used,avail,target'], { encoding: 'utf8' });
  const rows = stdout
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const [, used, available, target] = /^ *(\d+) +(\d+) (.*)$/.exec(line) ?? [];
      return target === undefined
        ? []
        : [[target, { used: Number(used), available: Number(available) }] as const];
    });
  return new Map(rows);
}
