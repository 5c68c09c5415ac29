/** The captured machines under test/fixtures/linux: lays one out in a temporary folder and reads it twice. */
import '../service/dead-buses.ts';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Counters, DiskUsage, Host } from '#src/host/host.js';
import { openNativeHost } from '#src/host/native.js';
import { whyNoProgram } from '../native/program.ts';
import { emptyFolder } from '../scope.ts';
import { makeFakeNvml } from './fake-nvml.ts';
import { generate } from './generated.ts';

const ROOT = fileURLToPath(new URL('../../../../../', import.meta.url));
export const FIXTURES = path.join(ROOT, 'test/fixtures/linux');

// In plain JavaScript, because the scripts that fuzz and replay use it too.
const { unpackAll } = (await import(path.join(ROOT, 'scripts/fixtures.mjs'))) as {
  readonly unpackAll: () => string;
};
/** The files of every machine: MACHINE/before and MACHINE/after. */
const UNPACKED = unpackAll();

/** Facts that cannot be files of the capture: see the README beside the machines. */
interface MachineFacts {
  readonly note: string;
  readonly unixMs: number;
  readonly sinceBootSeconds: number;
  readonly suspendedSeconds: number;
  /** Mount points that are files. */
  readonly fileMounts: readonly string[];
  /** The result of statvfs(3) for every mount that is shown; null if the server never answers. */
  readonly statvfs: Readonly<Record<string, Statvfs | null>>;
  readonly links: Readonly<Record<string, string>>;
  /** Generator of the remaining files, for machines with very many devices of one kind: see generated.ts. */
  readonly generator?: string;
}

interface Statvfs {
  readonly frsize: number;
  readonly blocks: number;
  readonly bfree: number;
  readonly bavail: number;
}

export interface FixtureMachine {
  readonly name: string;
  /** Its folder under test/fixtures, with its facts and golden samples. */
  readonly folder: string;
  readonly facts: MachineFacts;
  /** The laid-out copy; `proc`, `sys` and all other files are under it. */
  readonly root: string;
  readonly openHost: () => Host;
  /** Sets the files to their state at the first or at the second reading. */
  readonly setMoment: (moment: Moment) => void;
  /** `counters` with the capture's times and filesystem sizes instead of this machine's. */
  readonly atMoment: (counters: Counters, moment: Moment) => Counters;
}

export type Moment = 'before' | 'after';

/** Time between the two readings of every machine. */
export const WINDOW_SECONDS = 2;

export const machineNames = (): readonly string[] =>
  readdirSync(FIXTURES, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);

// Every mount point must be there for statvfs(3) to be asked; git keeps neither empty folders nor names that are not
// UTF-8. Read as latin1, so that each byte is one character.
function mountPointsOf(root: string): readonly Buffer[] {
  const text = readFileSync(path.join(root, 'proc/self/mountinfo'), 'latin1');
  return text
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
    .filter((point) => point.startsWith('/') && point !== '/')
    .map((point) =>
      point.replace(/\\([0-3][0-7]{2})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8))),
    )
    .map((point) => Buffer.from(point, 'latin1'));
}

function makeMountPoints(root: string, files: readonly string[]): void {
  for (const point of mountPointsOf(root)) {
    const target = Buffer.concat([Buffer.from(root), point]);
    if (!files.includes(point.toString())) {
      mkdirSync(target, { recursive: true });
      continue;
    }
    mkdirSync(path.dirname(target.toString()), { recursive: true });
    // A file of the capture may be mounted over another, as lxcfs does in /proc.
    if (!existsSync(target)) writeFileSync(target, '');
  }
}

function usageOf(vfs: Statvfs): DiskUsage {
  return {
    totalBytes: vfs.blocks * vfs.frsize,
    freeBytes: vfs.bfree * vfs.frsize,
    availableBytes: vfs.bavail * vfs.frsize,
  };
}

function replaceMeasured(counters: Counters, facts: MachineFacts, moment: Moment): Counters {
  const later = moment === 'after' ? WINDOW_SECONDS : 0;
  const sinceBoot = facts.sinceBootSeconds + later;
  const disks = counters.disks?.map((disk) => {
    const vfs = facts.statvfs[disk.mountPoint];
    // Which mount of a filesystem is a folder is known only once it has answered.
    if (disk.usage === null) return disk;
    if (vfs === undefined) throw new Error(`${disk.mountPoint} is shown and has no statvfs in machine.json`);
    if (vfs !== null) return { ...disk, usage: usageOf(vfs) };
    return { ...disk, usage: null, ...(disk.isStale === undefined ? {} : { isStale: true }) };
  });
  const takenAtNs = Math.round((sinceBoot - facts.suspendedSeconds) * 1e9);
  const { cpu } = counters;
  return {
    ...counters,
    ...(cpu?.energy && { cpu: { ...cpu, energy: { ...cpu.energy, takenAtNs } } }),
    takenAtNs,
    networkTakenAtNs: takenAtNs,
    sinceBootNs: Math.round(sinceBoot * 1e9),
    unixMs: facts.unixMs + later * 1000,
    ...(disks && { disks }),
  };
}

const NOTHING_MADE: ReturnType<typeof generate> = { files: {}, links: {}, statvfs: {} };

function writeAll(root: string, files: Readonly<Record<string, string>>): void {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    writeFileSync(path.join(root, file), text);
  }
}

function filesIn(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)));
}

/** Whether the machine has a GPU that is read through NVIDIA's library. */
export const isNvmlMachine = (name: string): boolean =>
  existsSync(path.join(UNPACKED, name, 'before/nvml.control'));

/** The reason why a machine cannot be laid out here; false if it can. */
export const whyNoFixture = (name: string): string | false =>
  isNvmlMachine(name) && whyNoProgram('fake_nvml.so');

/** The fake NVIDIA library with the machine's nvml.control as its script; none if there is no such file. */
function playNvml(t: { teardown(done: () => void): unknown }, root: string): { readonly nvml?: string } {
  const script = path.join(root, 'nvml.control');
  if (!existsSync(script)) return {};
  return { nvml: makeFakeNvml(t, readFileSync(script, 'utf8').split('\n'), { folder: root }).library };
}

/** The machine `name` as at its first reading; its copy is removed with the test. */
export function openFixture(t: { teardown(done: () => void): unknown }, name: string): FixtureMachine {
  const folder = path.join(FIXTURES, name);
  // Written by hand beside the capture.
  const written = JSON.parse(readFileSync(path.join(folder, 'machine.json'), 'utf8')) as MachineFacts;
  const made = (moment: Moment) =>
    written.generator === undefined ? NOTHING_MADE : generate(written.generator, moment);
  const before = made('before');
  const after = made('after');
  const changing = Object.keys(after.files).filter((file) => before.files[file] !== after.files[file]);
  const facts: MachineFacts = {
    ...written,
    statvfs: { ...written.statvfs, ...before.statvfs },
    links: { ...written.links, ...before.links },
  };
  const files = path.join(UNPACKED, name);
  const root = emptyFolder(t, `${name}`);
  cpSync(path.join(files, 'before'), root, { recursive: true });
  writeAll(root, before.files);
  for (const [link, target] of Object.entries(facts.links)) {
    mkdirSync(path.dirname(path.join(root, link)), { recursive: true });
    symlinkSync(target, path.join(root, link));
  }
  makeMountPoints(root, facts.fileMounts);
  const nvml = playNvml(t, root);
  const later = filesIn(path.join(files, 'after'));
  return {
    name,
    folder,
    facts,
    root,
    openHost: () =>
      openNativeHost({ proc: path.join(root, 'proc'), sys: path.join(root, 'sys'), files: root, ...nvml }),
    // Overwritten in place: a kernel file keeps its inode, and descriptors kept open must see the change.
    setMoment: (moment) => {
      for (const file of later)
        writeFileSync(path.join(root, file), readFileSync(path.join(files, moment, file)));
      const { files: made } = moment === 'before' ? before : after;
      writeAll(root, Object.fromEntries(changing.map((file) => [file, made[file] ?? ''])));
    },
    atMoment: (counters, moment) => replaceMeasured(counters, facts, moment),
  };
}
