/** Probers, in a C++ program of their own: plain, and under the sanitizers that find races and bad memory. */
import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../../../..');
const compiler = process.env['CXX'] ?? 'g++';
const sources = [
  'test/native/prober_test.cc',
  'native/host/prober.cc',
  'native/host/prober_state.cc',
  'native/linux/thread.cc',
];
const warnings = ['-Wall', '-Wextra', '-Wshadow', '-Wconversion', '-Werror'];

interface Failure {
  readonly stdout?: string;
  readonly stderr?: string;
  readonly code?: number | string;
}

/** What a command printed, and whether it succeeded. */
async function outcomeOf(command: string, args: readonly string[], timeout: number) {
  try {
    const { stdout, stderr } = await run(command, args, { cwd: root, timeout });
    return { isSuccess: true, text: stdout + stderr };
  } catch (error) {
    // execFile rejects with an Error that carries what the process printed.
    const { stdout = '', stderr = '', code = '' } = error as Failure;
    return { isSuccess: false, text: `${stdout}${stderr} (${code})` };
  }
}

const variants = [
  { name: 'plain', flags: ['-O2'], args: [] },
  { name: 'thread', flags: ['-O1', '-g', '-fsanitize=thread'], args: ['sanitized'] },
  { name: 'address', flags: ['-O1', '-g', '-fsanitize=address,undefined'], args: ['sanitized'] },
];

type Variant = (typeof variants)[number];

/** Compiles it; why it can't be had here, if so. Throws what the compiler said when the program is at fault. */
async function build(variant: Variant): Promise<string | undefined> {
  const args = [
    '-std=c++20',
    ...warnings,
    ...variant.flags,
    '-Inative',
    ...sources,
    '-o',
    programOf(variant),
    '-pthread',
    '-ldl',
  ];
  const { isSuccess, text } = await outcomeOf(compiler, args, 280_000);
  if (isSuccess) return undefined;
  if (/cannot find \S*[atu]\w*san/.test(text)) return `${compiler} has no library for this sanitizer`;
  throw new Error(text);
}

const programOf = (variant: Variant) => path.join(root, 'build/prober-test', variant.name);

t.setTimeout(300_000);
t.test('the promises of probers', { skip: process.platform !== 'linux' && 'for Linux' }, async (t) => {
  mkdirSync(path.join(root, 'build/prober-test'), { recursive: true });
  const reasons = await Promise.all(variants.map(build));
  const check = async (variant: Variant, index: number) => {
    const started = performance.now();
    const missing = reasons[index];
    const { isSuccess, text } =
      missing === undefined
        ? await outcomeOf(programOf(variant), variant.args, 90_000)
        : { isSuccess: true, text: '' };
    const isTooRandom = text.includes('unexpected memory mapping');
    const skip =
      missing ?? (isTooRandom ? "this kernel's address layout is too random for ThreadSanitizer" : false);
    t.comment(`${variant.name}: ${text.trim()}`);
    const name = `${variant.name}: no check failed, nothing reported, and the process ended with threads still stuck`;
    t.ok(isSuccess, name, { skip, output: text, milliseconds: performance.now() - started });
  };
  // The plain one alone, for it is strict about times.
  const [plain, ...sanitized] = variants.map((variant, index) => () => check(variant, index));
  await plain?.();
  await Promise.all(sanitized.map((run) => run()));
});
