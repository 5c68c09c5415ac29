/**
 * A service of root publishes no picture that the user of the player may not read, whatever the player names. One on a
 * filesystem that never answers: one thread, bounded waits, and the service ends all the same.
 */
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import { coverPicture } from '../../browser/cover-picture.ts';
import { missingForBus, PrivateBus, until } from '../../helpers/dbus/bus.ts';
import { GOOD, PLAYING } from '../../helpers/dbus/media-rig.ts';
import { FakePlayer, track } from '../../helpers/dbus/player.ts';
import { startSessionBus } from '../../helpers/dbus/session-bus.ts';
import { changeLogind, startUserBus } from '../../helpers/dbus/user-bus.ts';
import { variant } from '../../helpers/dbus/wire.ts';
import { openMountSpace, whyNoMountSpace } from '../../helpers/machine/hung-mounts.ts';
import { MediaService } from '../../helpers/service/media.ts';

const skip = missingForBus() || (process.getuid?.() !== 0 && 'only root may take the ids of others');

/** A user that every Debian has: dbus-daemon turns away users that are not in /etc/passwd. */
const ANNA = 5;
const PICTURE = coverPicture();

/** Puts a picture into `folder` that only `uid` may read. */
function place(folder: string, name: string, uid: number): string {
  const file = path.join(folder, name);
  writeFileSync(file, PICTURE);
  chownSync(file, uid, uid);
  chmodSync(file, 0o600);
  return file;
}

interface Files {
  readonly annas: string;
  readonly roots: string;
  /** Descriptions and paths of files that Anna may not read. */
  readonly others: readonly (readonly [what: string, file: string])[];
}

function placeAll(folder: string): Files {
  mkdirSync(folder);
  const roots = place(folder, 'root.png', 0);
  const closed = path.join(folder, 'closed');
  mkdirSync(closed, { mode: 0o700 });
  const hidden = place(closed, 'hidden.png', ANNA);
  const link = path.join(folder, 'link.png');
  symlinkSync(roots, link);
  return {
    annas: place(folder, 'anna.png', ANNA),
    roots,
    others: [
      ["root's picture", roots],
      ['a link to it', link],
      ['her own in a folder that she may not enter', hidden],
      ["what the service's environment has", '/proc/self/environ'],
    ],
  };
}

/** Changes the track's picture and requests it once the service knows. */
async function show(service: MediaService, player: FakePlayer, file: string) {
  const artUrl = pathToFileURL(file).href;
  player.change({ Metadata: track(file, { 'mpris:artUrl': variant('s', artUrl) }) });
  await service.until((detail) => detail.art_url === artUrl);
  const answer = await fetch(`${service.process.baseUrl}/api/media/art`);
  return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) };
}

/** The user ids (real, effective, saved, for files) of the threads of `pid`. */
function usersOfThreads(pid: number): ReadonlySet<string> {
  const threads = `/proc/${pid}/task`;
  const uidsOf = (thread: string) => {
    try {
      const status = readFileSync(path.join(threads, thread, 'status'), 'utf8');
      return [(/^Uid:\s+(.*)$/m.exec(status)?.[1] ?? '').replaceAll('\t', ' ')];
    } catch {
      // It ended since it was listed.
      return [];
    }
  };
  return new Set(readdirSync(threads).flatMap(uidsOf));
}

async function checkFiles(t: Test, service: MediaService, player: FakePlayer, files: Files): Promise<void> {
  for (const [what, file] of files.others) t.equal((await show(service, player, file)).status, 404, what);
  t.match(
    service.process.stderr(),
    /info: media: cannot read the picture from annas: open the file: Permission denied\n/,
    'the reason is in the log',
  );
  const own = await show(service, player, files.annas);
  t.equal(own.status, 200, 'her own');
  t.ok(own.bytes.equals(PICTURE));
  // The thread that read the file exits on its own.
  let users = usersOfThreads(service.process.pid);
  while (users.size > 1) users = usersOfThreads(service.process.pid);
  t.strictSame([...users], ['0 0 0 0'], 'every thread is root’s');
}

t.setTimeout(240_000);
t.test("[6.art-rights] on the active user's bus", { skip }, async (t) => {
  const bus = await PrivateBus.start();
  t.teardown(() => bus.stop());
  const folder = path.join(bus.folder, 'anna');
  await startUserBus(t, folder, ANNA);
  await bus.startLogind();
  await changeLogind(
    bus,
    `logind.AddSession('a', 'seat0', dbus.UInt32(${ANNA}), 'games', True)
user(${ANNA}, '${folder}')
active('a')`,
  );
  const player = await FakePlayer.start(
    `unix:path=${folder}/bus`,
    'annas',
    { PlaybackStatus: PLAYING },
    ANNA,
  );
  t.teardown(() => player.close());
  const env = { PATH: process.env['PATH'], HOME: bus.folder, DBUS_SYSTEM_BUS_ADDRESS: bus.address };
  const service = await MediaService.start(env);
  t.teardown(() => service.stop());
  await checkFiles(t, service, player, placeAll(path.join(bus.folder, 'files')));
});

t.test("[6.art-rights] on root's bus, by the user of each player", { skip }, async (t) => {
  const bus = await PrivateBus.start();
  t.teardown(() => bus.stop());
  const player = await FakePlayer.start(bus.address, 'annas', { PlaybackStatus: PLAYING }, ANNA);
  t.teardown(() => player.close());
  const env = { PATH: process.env['PATH'], HOME: bus.folder, DBUS_SESSION_BUS_ADDRESS: bus.address };
  const service = await MediaService.start(env);
  t.teardown(() => service.stop());
  const files = placeAll(path.join(bus.folder, 'files'));
  await checkFiles(t, service, player, files);
  player.close();
  const rootsPlayer = await FakePlayer.start(bus.address, 'roots', { PlaybackStatus: PLAYING });
  t.teardown(() => rootsPlayer.close());
  t.equal((await show(service, rootsPlayer, files.roots)).status, 200, "root's picture for root's player");
});

const skipHung =
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
t.test('[6.art-hangs] one thread hangs, and nothing else does', { skip: skipHung }, async (t) => {
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
