/** A container that was given the host's file system: its figures are the host's. */
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { ask, jsonOf } from '../../helpers/clients/http.ts';
import { type ConfigPart, serveProgram } from '../../helpers/service/service.ts';

const NOT_ROOT = process.getuid?.() !== 0 && 'needs root, for a mount namespace';

interface Usage {
  readonly disks: readonly { readonly fs: string; readonly used: number; readonly available: number }[];
  readonly memory: { readonly used: number; readonly free: number };
  readonly processes?: { readonly count: number };
}

/** Bytes of the first disk; 0 while they are not known. */
const sizeOf = ({ disks }: Usage) => (disks[0]?.used ?? 0) + (disks[0]?.available ?? 0);

/** `$1`: the folder where the host's file system appears. Then the disks of the container itself: one, and empty. */
const SET_UP = `
set -e
mount --make-rprivate /
mount --rbind / "$1/host"
mkdir -p "$1/own"
mount -t tmpfs -o size=1m tmpfs "$1/own"
shift; exec "$@"`;

async function usageOf(t: Test, config: ConfigPart, folder?: string): Promise<Usage> {
  const service = await serveProgram(t, {
    config,
    ...(folder === undefined
      ? {}
      : {
          start: (command, args, how) =>
            spawn('unshare', ['--mount', 'sh', '-c', SET_UP, 'sh', folder, command, ...args], how),
        }),
  });
  for (;;) {
    // The contract's shape, which other tests check.
    const usage = jsonOf(await ask(service.port, '/api/usage?detail=1')) as unknown as Usage;
    // Mount points are listed by a prober, and measured by another one: both may take longer than the first readings.
    if (sizeOf(usage) > 0) return usage;
    await sleep(100);
  }
}

t.test(
  '[8.host-root] with host.root the disks and processes are those below it',
  { skip: NOT_ROOT },
  async (t) => {
    const folder = t.testdir({ host: {} });
    mkdirSync(path.join(folder, 'host'), { recursive: true });
    const direct = await usageOf(t, {});
    const inside = await usageOf(t, { host: { root: path.join(folder, 'host'), name: 'nas' } }, folder);
    const namesOf = ({ disks }: Usage) => disks.map(({ fs }) => fs);
    t.ok(namesOf(direct).includes('/'));
    t.strictSame(namesOf(inside), namesOf(direct), 'the mount points of the host, without the prefix');
    t.ok(Math.abs(sizeOf(inside) / sizeOf(direct) - 1) < 0.01, 'and their sizes');
    t.match(inside, { host: 'nas' });
  },
);
