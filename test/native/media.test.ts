/** The table of players and the keyboard of media keys, in a C++ program under the sanitizers. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../../../..');
const compiler = process.env['CXX'] ?? 'g++';
const SOURCES = [
  'test/native/media_test.cc',
  'native/linux/media/keys.cc',
  'native/linux/media/mpris_players.cc',
];
const WARNINGS = ['-Wall', '-Wextra', '-Wshadow', '-Wconversion', '-Werror'];
const SANITIZERS = '-fsanitize=address,undefined,float-cast-overflow';

t.setTimeout(280_000);
t.test(
  '[6.keys] the keys that a keyboard announces and presses, and what players tell',
  {
    skip: process.platform !== 'linux' && 'for Linux',
  },
  async (t) => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'hostwire-media-'));
    t.teardown(() => rmSync(folder, { recursive: true }));
    const build = async (flags: readonly string[]) => {
      const program = path.join(folder, `media-${flags.length}`);
      await run(compiler, ['-std=c++20', ...WARNINGS, ...flags, '-Inative', ...SOURCES, '-o', program], {
        cwd: root,
      });
      return program;
    };
    const check = async (program: string) => {
      const { stdout } = await run(program).catch((error: { stdout?: string; stderr?: string }) => ({
        stdout: `${error.stdout}${error.stderr}`,
      }));
      t.equal(stdout, 'all well\n');
    };
    await check(await build(['-O2']));
    try {
      await check(await build(['-O1', '-g', SANITIZERS, '-fno-sanitize-recover=all']));
    } catch (error) {
      if (!/cannot find \S*[au]\w*san/.test(String(error))) throw error;
      t.pass('under sanitizers', { skip: `${compiler} has no library for the sanitizers` });
    }
  },
);
