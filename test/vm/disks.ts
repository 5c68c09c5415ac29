/** Compares the disks that the system unit reports with those that a run outside its sandbox reports. */
import { isDeepStrictEqual } from 'node:util';
import { request } from './client.ts';
import type { Machine } from './machine.ts';

interface Test {
  ok(value: unknown, message: string): unknown;
  strictSame(found: unknown, wanted: unknown, message: string): unknown;
}

/** As the wire has it, with detail. */
interface Disk {
  readonly fs: string;
  readonly used: number;
  readonly size: number;
  readonly read_only: boolean;
  readonly stale: boolean;
}

const LIMIT_MS = 30_000;
/** Logs are written between two readings. */
const MOST_USED_BETWEEN = 4 << 20;

async function disksAt(port: number): Promise<readonly Disk[]> {
  const { body } = await request(port, 'GET', '/api/usage?fields=disks&detail=1');
  // The payload of the service under test, as its contract has it.
  return (JSON.parse(body) as { readonly disks: readonly Disk[] }).disks;
}

/** Returns the parts of each disk that do not change on their own. */
const lasting = (disks: readonly Disk[]) =>
  disks.map((disk) => {
    const { fs, device, type, size, label, read_only, removable, stale } = disk as Disk &
      Readonly<Record<string, unknown>>;
    return { fs, device, type, size, label, read_only, removable, stale };
  });

/** The order is that of mounting, which differs from boot to boot. */
const flagsOf = (disks: readonly Disk[]) =>
  Object.fromEntries(disks.map((disk) => [disk.fs, disk.read_only]));

/**
 * Waits until both report the disks that `readOnly` names, with what lasts of them: labels and the like come from
 * probers, which a service that has just started may still be waiting for. Then compares everything else.
 */
export async function expectSameDisks(
  t: Test,
  vm: Machine,
  readOnly: Readonly<Record<string, boolean>>,
  when: string,
): Promise<void> {
  const isAsWanted = (disks: readonly Disk[]) => isDeepStrictEqual(flagsOf(disks), readOnly);
  const areSettled = (some: readonly Disk[], others: readonly Disk[]) =>
    isAsWanted(some) && isAsWanted(others) && isDeepStrictEqual(lasting(some), lasting(others));
  const end = Date.now() + LIMIT_MS;
  let inside: readonly Disk[] = [];
  let outside: readonly Disk[] = [];
  do {
    [inside, outside] = await Promise.all([disksAt(vm.port), disksAt(vm.otherPort)]);
  } while (!areSettled(inside, outside) && Date.now() < end);
  t.strictSame(flagsOf(inside), readOnly, `${when}: the disks, and which are read-only`);
  t.strictSame(lasting(inside), lasting(outside), `${when}: the same as outside the sandbox`);
  t.ok(
    inside.every((disk, i) => Math.abs(disk.used - (outside[i]?.used ?? Number.NaN)) <= MOST_USED_BETWEEN),
    `${when}: as full`,
  );
}
