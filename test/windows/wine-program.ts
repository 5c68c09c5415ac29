/** C++ programs of tests for Windows: compiled by mingw-w64, run under Wine in a prefix of their own, lines counted. */
import { execFile, spawn } from 'node:child_process';
import {
  closeSync,
  copyFileSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../../../..');
const CXX = 'x86_64-w64-mingw32-g++-posix';
const GCOV = 'x86_64-w64-mingw32-gcov-posix';
const MACROS = ['UNICODE', '_UNICODE', 'NOMINMAX', 'WIN32_LEAN_AND_MEAN', '_WIN32_WINNT=0x0A00'];
const WARNINGS = ['-Wall', '-Wextra', '-Wpedantic', '-Wshadow', '-Wconversion', '-Werror'];
const FLAGS = ['-std=c++20', ...WARNINGS, ...MACROS.map((name) => `-D${name}`), '-Inative', '-Itest/windows'];
const SHARED_PREFIX = process.env['HOSTWIRE_WINE_PREFIX'] ?? path.join(root, 'build/wine');

export interface Program {
  /** Relative to the repository. */
  readonly sources: readonly string[];
  readonly flags?: readonly string[];
  readonly libraries: readonly string[];
}

/** Compiles into `file`, each source separately: two at a time. `isCounted`: with counters of lines. */
export async function buildForWine(
  file: string,
  { sources, flags = [], libraries }: Program,
  isCounted = false,
): Promise<void> {
  const folder = path.dirname(file);
  const counters = isCounted ? ['--coverage', '-O0', '-g'] : ['-O0'];
  const objects = sources.map((source) => path.join(folder, `${path.basename(source, '.cc')}.o`));
  const waiting = [...sources.entries()];
  const compile = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, source] = next;
      await run(CXX, [...FLAGS, ...counters, '-c', source, '-o', objects[index] ?? ''], { cwd: root });
    }
  };
  await Promise.all([compile(), compile()]);
  const link = [...flags, ...(isCounted ? ['--coverage'] : []), '-static', '-o', file];
  await run(CXX, [...objects, ...link, ...libraries.map((name) => `-l${name}`)], { cwd: root });
}

export interface OwnPrefix {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly close: () => Promise<void>;
}

/** A registry of its own over the files of the tests' Windows: nothing enrolled in it is visible elsewhere. */
export function openPrefix(): OwnPrefix {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'hostwire-prefix-'));
  for (const file of readdirSync(SHARED_PREFIX).filter((name) => /\.reg$|^\.update/.test(name)))
    copyFileSync(path.join(SHARED_PREFIX, file), path.join(folder, file));
  for (const name of ['drive_c', 'dosdevices'])
    symlinkSync(path.join(SHARED_PREFIX, name), path.join(folder, name));
  const { DISPLAY: _display, WAYLAND_DISPLAY: _wayland, ...rest } = process.env;
  const env = { ...rest, WINEPREFIX: folder, WINEARCH: 'win64', WINEDEBUG: '-all' };
  return {
    folder,
    env,
    async close() {
      await run('wineserver', ['-k'], { env }).catch(() => undefined);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export interface Ending {
  readonly code: number | null;
  readonly output: string;
}

/** Runs a program to its end. Output goes to a file: Wine has no Unix pipes. */
export async function runUnderWine(
  command: readonly string[],
  env: NodeJS.ProcessEnv,
  limitMs = 90_000,
): Promise<Ending> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'hostwire-wine-'));
  const file = path.join(folder, 'output');
  const out = openSync(file, 'w');
  const child = spawn('wine', command, { stdio: ['ignore', out, out], env, cwd: folder });
  closeSync(out);
  const timer = setTimeout(() => child.kill('SIGKILL'), limitMs);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  clearTimeout(timer);
  const output = readFileSync(file, 'utf8').replaceAll('\r\n', '\n');
  rmSync(folder, { recursive: true });
  return { code, output };
}

/** The parts of gcov's report on one file that are used here. */
interface Counted {
  readonly file: string;
  readonly lines: readonly { readonly line_number: number; readonly count: number }[];
}

/** Lines of `sources` that never ran, as "FILE:LINE: TEXT", and how many there are to run. */
export async function linesNotRun(
  folder: string,
  sources: readonly string[],
): Promise<{ readonly missed: readonly string[]; readonly lines: number }> {
  const counts = new Map<string, number>();
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.gcda'))) {
    await run(GCOV, ['--json-format', '-o', folder, path.join(folder, name)], { cwd: folder });
    const file = readdirSync(folder).find((each) => each.endsWith('.gcov.json.gz')) ?? '';
    // gcov's own format, documented in its manual.
    const report = JSON.parse(gunzipSync(readFileSync(path.join(folder, file))).toString()) as {
      readonly files: readonly Counted[];
    };
    rmSync(path.join(folder, file));
    for (const each of report.files.filter(({ file: name }) => sources.includes(name)))
      for (const { line_number: line, count } of each.lines)
        counts.set(`${each.file}:${line}`, (counts.get(`${each.file}:${line}`) ?? 0) + count);
  }
  const texts = new Map(
    sources.map((file) => [file, readFileSync(path.join(root, file), 'utf8').split('\n')]),
  );
  const missed: string[] = [];
  for (const [place, count] of counts) {
    if (count > 0) continue;
    const [file = '', line = ''] = place.split(':');
    const text = texts.get(file)?.[Number(line) - 1]?.trim() ?? '';
    // The end of a block is reached only by an exception.
    if (text !== '}') missed.push(`${place}: ${text}`);
  }
  return { missed, lines: counts.size };
}
