/** Finds the system calls of one sample with strace. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { Subject } from './subject.ts';

export interface Step {
  readonly kind: 'read' | 'statvfs';
  readonly path: string;
  /** Reads that returned bytes; a read that only reached the end of the file counts in `endReads`. */
  readonly perSample: number;
  readonly endReads: number;
  /** Made by the JavaScript thread, otherwise by a prober. */
  readonly isMain: boolean;
}

const ROUNDS = 10;
const INTERVAL_MS = 200;
const CALLS = 'pread64,read,readv,statfs,fstatfs,openat,getdents64';
const READ = /^(?:pread64|read|readv)\(\d+<(\/(?:proc|sys)\/[^>]*)>.* = (\d+)$/;
const STATFS = /^(?:statfs|fstatfs)\((?:"([^"]+)"|\d+<([^>]+)>)/;

interface Count {
  kind: 'read' | 'statvfs';
  reads: number;
  ends: number;
  isMain: boolean;
}

function countLine(line: string, isMain: boolean, pid: number, counts: Map<string, Count>): void {
  const read = READ.exec(line);
  const statfs = STATFS.exec(line);
  const name = (read?.[1] ?? statfs?.[1] ?? statfs?.[2])?.replace(`/proc/${pid}/`, '/proc/self/');
  if (name === undefined) return;
  const count = counts.get(name) ?? { kind: read ? 'read' : 'statvfs', reads: 0, ends: 0, isMain };
  if (read?.[2] === '0') count.ends++;
  else count.reads++;
  counts.set(name, count);
}

/** strace -ff writes one file per thread, so that no call is split by another thread's. */
function readTraces(folder: string): Map<string, string> {
  return new Map(
    readdirSync(folder).map((file) => [file.slice(2), readFileSync(path.join(folder, file), 'latin1')]),
  );
}

/** Returns the system calls per sample of the program at `subjectPath`, over ten samples, with those of probers. */
export async function traceSample(
  subjectPath: string,
  words: readonly string[] = [],
): Promise<readonly Step[]> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'hostwire-trace-'));
  const options = ['-ff', '-y', '-s', '0', '-e', `trace=${CALLS}`, '-o', path.join(folder, 't')];
  const subject = new Subject('strace', [...options, process.execPath, subjectPath, ...words]);
  try {
    // The first samples open files and read listings.
    await subject.run(ROUNDS, INTERVAL_MS);
    const before = readTraces(folder);
    await subject.run(ROUNDS, INTERVAL_MS);
    const after = readTraces(folder);
    // The thread that called execve has the smallest id.
    const pid = Math.min(...[...after.keys()].map(Number));
    const counts = new Map<string, Count>();
    for (const [thread, text] of after)
      for (const line of text.slice(before.get(thread)?.length ?? 0).split('\n'))
        countLine(line, Number(thread) === pid, pid, counts);
    return [...counts].map(([name, { kind, reads, ends, isMain }]) => ({
      kind,
      path: name,
      perSample: reads / ROUNDS,
      endReads: ends / ROUNDS,
      isMain,
    }));
  } finally {
    await subject.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
