/** Control groups with limits, of the version that this machine has. Needs root, and hierarchies that may be written. */
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import type { Test } from 'tap';

const CONTROLLERS = ['memory', 'cpu'] as const;
type Controller = (typeof CONTROLLERS)[number];

interface Hierarchy {
  readonly isUnified: boolean;
  /** The folder that groups may be made in. */
  readonly folder: string;
}

const PERIOD_US = 100_000;

/** Where the controller is mounted; the service's own parser is not used, because it is what the test checks. */
function hierarchyOf(controller: Controller): Hierarchy | undefined {
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
  const own = readFileSync('/proc/self/cgroup', 'utf8').split('\n');
  const first = mounts.find((line) => / - cgroup /.test(line) && line.split(/[ ,]/).includes(controller));
  if (first !== undefined) {
    const line = own.find((text) => text.split(':')[1]?.split(',').includes(controller));
    return {
      isUnified: false,
      folder: path.join(first.split(' ')[4] ?? '', line?.split(':')[2] ?? ''),
    };
  }
  // A group of version 2 that has processes cannot hand a controller down, except the root.
  const second = mounts.find((line) => / - cgroup2 /.test(line))?.split(' ')[4];
  return second === undefined ? undefined : { isUnified: true, folder: second };
}

const trial = (folder: string) => path.join(folder, `hostwire-trial-${process.pid}`);

/** The reason why no limited group can be made here; false if one can. */
export function whyNoGroup(): string | false {
  if (process.getuid?.() !== 0) return 'only root may make control groups';
  for (const controller of CONTROLLERS) {
    const found = hierarchyOf(controller);
    if (found === undefined) return `no control groups for ${controller} are mounted`;
    try {
      mkdirSync(trial(found.folder));
      rmdirSync(trial(found.folder));
      const handed =
        found.isUnified && readFileSync(path.join(found.folder, 'cgroup.subtree_control'), 'utf8');
      if (handed !== false && !handed.trim().split(' ').includes(controller))
        return `the control groups have no ${controller} controller`;
    } catch (error) {
      return `no control group can be made: ${String(error)}`;
    }
  }
  return false;
}

let count = 0;

/** One group, which is one folder per hierarchy. It is removed with the test, unless `remove` did it before. */
export class LimitedGroup {
  readonly #name: string;

  /** In the group `parent`, otherwise at the top; without limits until `limit`. */
  constructor(t: Test, parent?: LimitedGroup) {
    const name = `hostwire-${process.pid}-${count++}`;
    this.#name = parent === undefined ? name : path.join(parent.#name, name);
    t.teardown(() => this.remove());
    for (const folder of this.#folders()) mkdirSync(folder);
  }

  folder(controller: Controller): string {
    const found = hierarchyOf(controller);
    if (found === undefined) throw new Error(`no hierarchy of ${controller}`);
    return path.join(found.folder, this.#name);
  }

  #folders(): ReadonlySet<string> {
    return new Set(CONTROLLERS.map((controller) => this.folder(controller)));
  }

  #write(controller: Controller, first: readonly [string, string], second: readonly [string, string]): void {
    const [file, text] = hierarchyOf(controller)?.isUnified ? second : first;
    writeFileSync(path.join(this.folder(controller), file), text);
  }

  limit(memoryBytes: number, cpus: number): void {
    const quota = String(cpus * PERIOD_US);
    this.#write(
      'memory',
      ['memory.limit_in_bytes', String(memoryBytes)],
      ['memory.max', String(memoryBytes)],
    );
    this.#write('cpu', ['cpu.cfs_quota_us', quota], ['cpu.max', `${quota} ${PERIOD_US}`]);
  }

  /** Moves the process `pid` into it. */
  take(pid: number): void {
    for (const folder of this.#folders()) writeFileSync(path.join(folder, 'cgroup.procs'), String(pid));
  }

  /** A counter of cpu.stat. */
  stat(key: string): number {
    const text = readFileSync(path.join(this.folder('cpu'), 'cpu.stat'), 'utf8');
    return Number(new RegExp(`^${key} (\\d+)$`, 'm').exec(text)?.[1]);
  }

  /** Its processes must have ended or left. */
  remove(): void {
    for (const folder of this.#folders())
      try {
        rmdirSync(folder);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      }
  }
}
