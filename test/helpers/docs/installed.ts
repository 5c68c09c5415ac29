/** Packages from npm that a proof needs and the project does not, in a folder of their own that goes with the proof. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import type { Test } from 'tap';

export class Installed {
  readonly folder: string;

  constructor(t: Test, packages: readonly string[]) {
    this.folder = mkdtempSync(path.join(os.tmpdir(), 'hostwire-installed-'));
    t.teardown(() => rmSync(this.folder, { recursive: true, force: true }));
    const flags = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', this.folder];
    this.#run('npm', ['install', ...flags, ...packages]);
  }

  /** Runs a command of the packages in the folder; returns its exit code and its output. */
  run(command: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const ended = spawnSync(path.join(this.folder, 'node_modules/.bin', command), args, {
      cwd: this.folder,
      encoding: 'utf8',
      timeout: 120_000,
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', ...env },
    });
    return { code: ended.status, stdout: ended.stdout, stderr: ended.stderr };
  }

  #run(command: string, args: readonly string[]): void {
    const ended = spawnSync(command, args, { cwd: this.folder, encoding: 'utf8', timeout: 300_000 });
    if (ended.status !== 0) throw new Error(`${command} ${args.join(' ')}: ${ended.stderr}`);
  }
}
