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

t.test('the promises of probers', { skip: process.platform !== 'linux' && 'for Linux' }, async (t) => {
  const folder = path.join(root, 'build/prober-test');
  mkdirSync(folder, { recursive: true });
  for (const variant of variants) {
    const program = path.join(folder, variant.name);
    await t.test(variant.name, async (t) => {
      const args = [
        '-std=c++20',
        ...warnings,
        ...variant.flags,
        '-Inative',
        ...sources,
        '-o',
        program,
        '-pthread',
        '-ldl',
      ];
      const built = await outcomeOf(compiler, args, 200_000);
      if (/cannot find \S*[atu]\w*san/.test(built.text)) {
        t.pass('built', { skip: `${compiler} has no library for this sanitizer` });
        return;
      }
      if (!t.ok(built.isSuccess, 'compiles', { output: built.text })) return;
      const started = performance.now();
      const outcome = await outcomeOf(program, variant.args, 90_000);
      if (outcome.text.includes('unexpected memory mapping')) {
        t.pass('ran', { skip: "this kernel's address layout is too random for ThreadSanitizer" });
        return;
      }
      t.comment(outcome.text.trim());
      t.ok(outcome.isSuccess, 'no check failed, no report, and the process ended with threads still stuck', {
        output: outcome.text,
        milliseconds: performance.now() - started,
      });
    });
  }
});
