/** A picture on a filesystem that never answers: one thread, bounded waits, and the service ends all the same. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { until } from '../../helpers/dbus/bus.ts';
import { GOOD } from '../../helpers/dbus/media-rig.ts';
import { FakePlayer, track } from '../../helpers/dbus/player.ts';
import { startSessionBus } from '../../helpers/dbus/session-bus.ts';
import { variant } from '../../helpers/dbus/wire.ts';
import { openMountSpace, whyNoMountSpace } from '../../helpers/machine/hung-mounts.ts';
import { MediaService } from '../../helpers/service/media.ts';

const skip =
  (process.getuid?.() !== 0 && 'the user of the bus is another one in a namespace of users') ||
  (whyNoMountSpace() ?? false);

/** The same on all architectures. */
const OPENAT2 = '437';

/** The threads that are within openat2(2), which nothing else calls here. */
function opening(pid: number): number {
  const threads = `/proc/${pid}/task`;
  return readdirSync(threads).filter((thread) =>
    readFileSync(path.join(threads, thread, 'syscall'), 'utf8').startsWith(`${OPENAT2} `),
  ).length;
}

t.setTimeout(240_000);
t.test('[6.art-hangs] one thread hangs, and nothing else does', { skip }, async (t) => {
  const space = await openMountSpace(t);
  const { points } = await space.mountHung(1);
  const bus = await startSessionBus();
  t.teardown(() => bus.stop());
  const artUrl = pathToFileURL(path.join(String(points[0]), 'cover.png')).href;
  const Metadata = track('hung', { 'mpris:artUrl': variant('s', artUrl) });
  const player = await FakePlayer.start(bus.address, 'hung', { ...GOOD, Metadata });
  t.teardown(() => player.close());
  const other = await FakePlayer.start(bus.address, 'other', {
    ...GOOD,
    Metadata: track('other', { 'mpris:artUrl': variant('s', 'file:///other.png') }),
  });
  t.teardown(() => other.close());
  const service = await MediaService.start(bus.env, {}, space.start);
  const { pid, baseUrl } = service.process;
  await service.until((detail) => detail.art_url === artUrl, { player: 'hung' });

  const ask = (name: string) => fetch(`${baseUrl}/api/media/art?player=${name}`);
  const asked = Array.from({ length: 20 }, () => ask('hung'));
  await until('a thread that opens the file', () => opening(pid) === 1);
  t.equal((await ask('other')).status, 409, 'the picture of another player waits');
  t.match(await service.status(), { status: 'active' }, 'all else is answered');
  for (const answer of await Promise.all(asked)) {
    t.equal(answer.status, 409);
    t.match(await answer.json(), { code: 'not_possible_now', error: /timed out/ });
  }
  t.equal((await ask('hung')).status, 409);
  t.equal(opening(pid), 1, 'it is the only thread');
  const { code, signal } = await service.process.stop();
  t.strictSame({ code, signal }, { code: 0, signal: null }, 'the service ends while the thread hangs');
});
