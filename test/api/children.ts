/** The only processes that a request of a test may name, or end. */
import { type ChildProcess, spawn } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { emptyFolder, type Scope } from '../helpers/scope.ts';

/** A program of its own name, which waits, and a function that starts it. */
export function makeProgram(t: Scope, name: string) {
  const program = path.join(emptyFolder(t, 'api'), `hw ${name} ${process.pid}`);
  copyFileSync('/bin/sleep', program);
  const children: ChildProcess[] = [];
  t.teardown(() => {
    for (const child of children) child.kill('SIGKILL');
  });
  return {
    program,
    async startChild(): Promise<number> {
      const child = spawn(program, ['120'], { stdio: 'ignore' });
      children.push(child);
      await new Promise((resolve) => child.once('spawn', resolve));
      return child.pid ?? 0;
    },
  };
}
