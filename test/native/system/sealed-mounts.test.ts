/** A sandboxed service has a mount table of its own, with its own read-only flags: the machine's are still reported. */
import '../../helpers/service/dead-buses.ts';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import t from 'tap';
import { SECTION_BITS } from '#src/host/host.js';

/** Runs a program that reports on `/`, in a separate mount table where that is read-only. */
const SEALED = `mount -o remount,bind,ro / && exec "$0" --input-type=module -e '
  const { openNativeHost } = await import(process.argv[1]);
  const host = openNativeHost();
  const read = () => host.readCounters(${SECTION_BITS.disks}, true, 0).disks?.find((disk) => disk.mountPoint === "/");
  while (read()?.usage == null) await new Promise((resolve) => setTimeout(resolve, 10));
  console.log(read().isReadOnly, read().usage.totalBytes);
' "$1"`;

const FLAGS = ['--mount', ...(process.getuid?.() === 0 ? [] : ['--map-root-user'])];

/** The options of `/` for the first process, the mount's and its filesystem's; undefined if not comparable. */
function optionsOfRoot(): readonly string[] | undefined {
  const table = readFileSync('/proc/1/mountinfo', 'utf8');
  const [, mount, filesystem] = [...table.matchAll(/^\d+ \d+ \S+ \S+ \/ (\S+) .* (\S+)$/gm)].at(-1) ?? [];
  return mount === undefined ? undefined : `${mount},${filesystem}`.split(',');
}

function whyNot(): string | undefined {
  if (process.platform !== 'linux') return 'for Linux';
  if (optionsOfRoot() === undefined) return 'the first process has no root to compare with';
  const tried = spawnSync('unshare', [...FLAGS, 'mount', '-o', 'remount,bind,ro', '/'], { encoding: 'utf8' });
  return tried.status === 0 ? undefined : `no right to a mount table: ${tried.stderr ?? tried.error}`;
}

t.test('read-only is reported as it is for the first process', { skip: whyNot() ?? false }, async (t) => {
  const module = import.meta.resolve('#src/host/native.js');
  const ran = spawnSync('unshare', [...FLAGS, 'sh', '-c', SEALED, process.execPath, module], {
    encoding: 'utf8',
    timeout: 240_000,
  });
  const [isReadOnly, totalBytes] = ran.stdout.trim().split(' ');
  t.equal(isReadOnly, String(optionsOfRoot()?.includes('ro')), `${ran.stdout}${ran.stderr}`);
  t.ok(Number(totalBytes) > 0);
});
