/** The system calls of a reading of disks, seen by strace. */
import '../../helpers/service/dead-buses.ts';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import t from 'tap';
import { SECTION_BITS } from '#src/host/host.js';
import { emptyFolder } from '../../helpers/scope.ts';

const DISKS = SECTION_BITS.disks;
const hasStrace = spawnSync('strace', ['-V']).status === 0;

t.test(
  'a reading without detail costs one poll',
  { skip: !hasStrace && 'strace is not installed' },
  async (t) => {
    const folder = emptyFolder(t, 'strace');
    const trace = path.join(folder, 'trace');
    const script = `
    const { openNativeHost } = await import(${JSON.stringify(import.meta.resolve('#src/host/native.js'))});
    const { accessSync } = await import('node:fs');
    const mark = (name) => { try { accessSync('/mark-' + name); } catch {} };
    const host = openNativeHost();
    for (let i = 0; i < 3; i++) { host.readCounters(${DISKS}, false, 0); await new Promise((r) => setTimeout(r, 100)); }
    mark('begin');
    for (let i = 0; i < 50; i++) host.readCounters(${DISKS}, false, 60_000);
    mark('end');`;
    // Without -f: the main thread alone.
    const ran = spawnSync('strace', ['-o', trace, process.execPath, '--input-type=module', '-e', script], {
      encoding: 'utf8',
    });
    if (ran.status !== 0 && /ptrace|not permitted/i.test(ran.stderr)) {
      t.pass('not traced', { skip: `tracing is not permitted here (${ran.stderr.trim()})` });
      return;
    }
    t.equal(ran.status, 0, ran.stderr);
    const calls =
      /mark-begin.*\n([\s\S]*?)\n.*mark-end/.exec(readFileSync(trace, 'utf8'))?.[1]?.split('\n') ?? [];
    const count = (pattern: RegExp) => calls.filter((call) => pattern.test(call)).length;
    t.equal(count(/^poll\(.*POLLPRI/), 50, 'one poll a reading');
    t.equal(
      count(/^(?:open|openat|read|pread64|statfs|newfstatat|statx|fstat)\(/),
      0,
      'no file is opened, read or asked',
    );
    const others = calls.filter(
      (call) => !/^(?:poll|futex|clock_\w+|madvise|mmap|munmap|mprotect|brk)\(/.test(call),
    );
    // V8 wakes its loop to collect what the readings left, whenever they have filled its young space.
    const isWakeUp = (call: string) => /^write\(\d+, "\\1(?:\\0){7}", 8\)/.test(call);
    t.same(
      others.filter((call) => !isWakeUp(call)),
      [],
      'nothing else',
    );
  },
);
