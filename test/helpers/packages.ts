/** The npm packages of this checkout, packed and installed as their users do it. */
import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { emptyFolder, type Scope } from './scope.ts';

const ROOT = path.resolve(import.meta.dirname, '../../../..');

/** Runs npm; throws an Error with what it printed. */
export function npm(args: readonly string[], folder = ROOT): string {
  return execFileSync('npm', [...args, '--no-audit', '--no-fund', '--no-update-notifier'], {
    cwd: folder,
    encoding: 'utf8',
    stdio: 'pipe',
    // npm gives its own settings to the scripts that it runs, as this one may be.
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name))),
  });
}

/** The folder of this machine's npm. */
export const findNpm = (): string =>
  path.join(execFileSync('npm', ['root', '--global'], { encoding: 'utf8' }).trim(), 'npm');

/** Packs hostwire, or a workspace; returns the path of the tarball. */
export function pack(folder: string, workspace?: string): string {
  const before = new Set(readdirSync(folder));
  npm(['pack', '--pack-destination', folder, ...(workspace === undefined ? [] : ['--workspace', workspace])]);
  const [name = ''] = readdirSync(folder).filter((file) => !before.has(file) && file.endsWith('.tgz'));
  return path.join(folder, name);
}

/** `npm install` with an empty cache and without a network. */
export const installOffline = (t: Scope, args: readonly string[], folder: string) =>
  npm(['install', '--offline', '--cache', emptyFolder(t), ...args], folder);

/** The bytes of all files below `folder`. */
export function bytesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(path.join(entry.parentPath, entry.name)).size, 0);
}
