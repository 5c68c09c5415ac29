/** A stand-in for NVIDIA's library, compiled from test/native/fake_nvml.c: each test has its own copy and its own script. */
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../../../../..');
const source = path.join(root, 'test/native/fake_nvml.c');

export interface FakeNvml {
  /** What to give the host as its library. */
  readonly library: string;
  /** Replaces the script: see fake_nvml.c. */
  play(...lines: readonly string[]): void;
  /** Every call since the last time this was asked: its function and the device. */
  takeCalls(): readonly string[];
}

/** The library without the functions of `without` ("MEMORY_V2", "PCI_INFO"), compiled on first use. */
function buildLibrary(without: readonly string[]): string {
  const library = path.join(root, `build/fake-nvml${without.map((name) => `-${name}`).join('')}.so`);
  if (existsSync(library) && statSync(library).mtimeMs > statSync(source).mtimeMs) return library;
  mkdirSync(path.dirname(library), { recursive: true });
  // Renamed into place: another test may have the old one open.
  const fresh = `${library}.${process.pid}`;
  const flags = [
    '-std=gnu17',
    '-Wall',
    '-Wextra',
    '-Werror',
    '-O1',
    '-shared',
    '-fPIC',
    '-fvisibility=hidden',
  ];
  const left = without.map((name) => `-DWITHOUT_${name}`);
  execFileSync(process.env['CC'] ?? 'cc', [...flags, ...left, '-o', fresh, source, '-ldl']);
  renameSync(fresh, library);
  return library;
}

/** Lays a library and its script into `folder`, or into a folder that leaves with the test. */
export function makeFakeNvml(
  t: { teardown(done: () => void): unknown },
  lines: readonly string[],
  options: { readonly folder?: string; readonly without?: readonly string[] } = {},
): FakeNvml {
  const folder = options.folder ?? mkdtempSync(path.join(tmpdir(), 'hostwire-nvml-'));
  if (options.folder === undefined) t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const library = path.join(folder, 'libnvidia-ml.so.1');
  copyFileSync(buildLibrary(options.without ?? []), library);
  const script = path.join(folder, 'nvml.control');
  const calls = path.join(folder, 'nvml.calls');
  writeFileSync(calls, '');
  let taken = 0;
  const play = (...next: readonly string[]) => {
    // Renamed into place: a call must see the old script or the new one.
    writeFileSync(`${script}.new`, `${next.join('\n')}\n`);
    renameSync(`${script}.new`, script);
  };
  play(...lines);
  return {
    library,
    play,
    takeCalls: () => {
      const all = readFileSync(calls, 'utf8').split('\n').slice(0, -1);
      const fresh = all.slice(taken);
      taken = all.length;
      return fresh;
    },
  };
}
