/** The C++ programs of the tests (test/native/CMakeLists.txt), built beforehand: no test starts a compiler. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../../../../..');
/** Only guards against a program that hangs. */
const LIMIT_MS = 240_000;

export type Variant = 'plain' | 'address' | 'thread';

export const programPath = (name: string, variant: Variant = 'plain') =>
  path.join(root, 'build/native', variant, name);

/** The reason why a program or library cannot be used here; false if it can. */
export function whyNoProgram(name: string, variant: Variant = 'plain'): string | false {
  if (existsSync(programPath(name, variant))) return false;
  const step = variant === 'plain' ? 'programs' : 'sanitized';
  return `build/native/${variant}/${name} is missing: node scripts/build.mjs ${step} (needs CMake, apt-get install cmake)`;
}

/** Skips a test file that needs a program which is not there. */
export function needProgram(name: string): void {
  const reason = whyNoProgram(name);
  if (reason === false) return;
  t.pass('the program is there', { skip: reason });
  process.exit(0);
}

export interface Outcome {
  readonly isSuccess: boolean;
  /** Its output, and its exit code if it was not 0. */
  readonly text: string;
  /** The reason why this machine cannot run it; false if it can. */
  readonly missing: string | false;
}

/** Runs a program to its end, in the project's root folder. */
export async function runProgram(
  name: string,
  variant: Variant = 'plain',
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = process.env,
): Promise<Outcome> {
  try {
    const { stdout, stderr } = await run(programPath(name, variant), args, {
      cwd: root,
      timeout: LIMIT_MS,
      env,
    });
    return { isSuccess: true, text: stdout + stderr, missing: false };
  } catch (error) {
    // execFile rejects with an Error that carries the output of the process.
    const { stdout = '', stderr = '', code = '' } = error as Partial<Record<string, string>>;
    const text = `${stdout}${stderr} (${code})`;
    if (text.includes('unexpected memory mapping'))
      return { isSuccess: true, text, missing: 'the address layout is too random for ThreadSanitizer' };
    if (text.includes('no library'))
      return { isSuccess: true, text, missing: 'libsystemd, libelogind and libbasu are missing' };
    return { isSuccess: false, text, missing: false };
  }
}
