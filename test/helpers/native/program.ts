/** Compiles a C++ test program plain and under the sanitizers, and runs it. */
import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../../../../..');
const compiler = process.env['CXX'] ?? 'g++';
const WARNINGS = ['-Wall', '-Wextra', '-Wshadow', '-Wconversion', '-Werror'];

export interface Variant {
  readonly name: string;
  readonly flags: readonly string[];
  /** What the program is started with. */
  readonly args: readonly string[];
}

export const PLAIN: Variant = { name: 'plain', flags: ['-O2'], args: [] };
export const SANITIZED: readonly Variant[] = [
  { name: 'thread', flags: ['-O0', '-g', '-fsanitize=thread'], args: ['sanitized'] },
  {
    name: 'address',
    flags: ['-O0', '-g', '-fsanitize=address,undefined,float-cast-overflow'],
    args: ['sanitized'],
  },
];

export interface Outcome {
  readonly isSuccess: boolean;
  /** What it printed, and its exit code if it was not 0. */
  readonly text: string;
}

async function outcomeOf(command: string, args: readonly string[], timeout: number): Promise<Outcome> {
  try {
    const { stdout, stderr } = await run(command, args, { cwd: root, timeout });
    return { isSuccess: true, text: stdout + stderr };
  } catch (error) {
    // execFile rejects with an Error that carries what the process printed.
    const {
      stdout = '',
      stderr = '',
      code = '',
    } = error as {
      readonly stdout?: string;
      readonly stderr?: string;
      readonly code?: number | string;
    };
    return { isSuccess: false, text: `${stdout}${stderr} (${code})` };
  }
}

export interface Program {
  /** The folder under build/ that it is compiled into. */
  readonly folder: string;
  /** From the top of the project. */
  readonly sources: readonly string[];
  readonly includes?: readonly string[];
}

/** Where it is when it is compiled. */
export const programPath = ({ folder }: Program, variant: Variant) =>
  path.join(root, 'build', folder, variant.name);

/** Compiles it; why it can't be had here, if so. Throws what the compiler said when the program is at fault. */
export async function compile(program: Program, variant: Variant): Promise<string | undefined> {
  mkdirSync(path.join(root, 'build', program.folder), { recursive: true });
  const includes = ['native', ...(program.includes ?? [])].map((folder) => `-I${folder}`);
  const output = ['-o', programPath(program, variant), '-pthread', '-ldl'];
  const args = ['-std=c++20', ...WARNINGS, ...variant.flags, ...includes, ...program.sources, ...output];
  const { isSuccess, text } = await outcomeOf(compiler, args, 280_000);
  if (isSuccess) return undefined;
  if (/cannot find \S*[atu]\w*san/.test(text)) return `${compiler} has no library for this sanitizer`;
  throw new Error(text);
}

/** Runs what was compiled; `missing`, when this machine can't run it. */
export async function execute(
  program: Program,
  variant: Variant,
): Promise<Outcome & { readonly missing?: string }> {
  const outcome = await outcomeOf(programPath(program, variant), variant.args, 120_000);
  return outcome.text.includes('unexpected memory mapping')
    ? { ...outcome, missing: "this kernel's address layout is too random for ThreadSanitizer" }
    : outcome;
}

/** Whether `source` compiles. */
export function syntaxCheck(source: string): Promise<Outcome> {
  return outcomeOf(compiler, ['-std=c++20', '-fsyntax-only', ...WARNINGS, '-Inative', source], 120_000);
}
