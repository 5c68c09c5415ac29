/** A stand-in for NVIDIA's library, built from test/native/fake_nvml.c: each test has its own copy and its own script. */
import { copyFileSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { programPath } from '../native/program.ts';

export interface FakeNvml {
  /** Path of the library, for the host's options. */
  readonly library: string;
  /** Replaces the script: see fake_nvml.c. */
  play(...lines: readonly string[]): void;
  /** Every call since the previous takeCalls: its function and the device. */
  takeCalls(): readonly string[];
}

/** The function that the library of an older driver lacks. */
export type Without = 'MEMORY_V2' | 'PCI_INFO';

/** Puts a library and its script into `folder`, or into a folder that is removed with the test. */
export function makeFakeNvml(
  t: { teardown(done: () => void): unknown },
  lines: readonly string[],
  options: { readonly folder?: string; readonly without?: Without } = {},
): FakeNvml {
  const folder = options.folder ?? mkdtempSync(path.join(tmpdir(), 'hostwire-nvml-'));
  if (options.folder === undefined) t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const library = path.join(folder, 'libnvidia-ml.so.1');
  copyFileSync(programPath(options.without ? `fake_nvml-${options.without}.so` : 'fake_nvml.so'), library);
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
