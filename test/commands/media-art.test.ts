/** The picture of a track: who waits for a reading and for how long, with files and a clock that the test owns. */
import t from 'tap';
import { Media } from '#src/commands/media.js';
import { QUOTAS } from '#src/fairness/limits.js';
import type { MediaPlayer } from '#src/host/media.js';
import { createLog } from '#src/log/log.js';
import { FakeClock, settle } from '../helpers/fakes/clock.ts';
import { FakeConfig } from '../helpers/fakes/config.ts';
import { FakeMediaHost, playerOf, snapshotOf } from '../helpers/fakes/media.ts';

const PNG = Buffer.from('\x89PNG\r\n\x1a\n and more', 'latin1');
const LATE = { code: 'not_possible_now', message: 'Reading the picture timed out.' };
const BUSY = { code: 'not_possible_now', message: 'Another picture is being read.' };

/** Files are read when the test says so. */
class Rig {
  readonly clock = new FakeClock();
  readonly host = new FakeMediaHost();
  readonly log: string[] = [];
  readonly readings: {
    readonly of: readonly [id: string, file: string, maxBytes: number];
    readonly finish: (bytes: Buffer) => void;
    readonly fail: (error: Error) => void;
  }[] = [];
  readonly media = new Media({
    host: this.host,
    clock: this.clock,
    config: new FakeConfig(),
    log: createLog((line) => this.log.push(line.trim()), 'info'),
  });

  constructor() {
    this.show({});
    this.host.readArt = (...of) =>
      new Promise((finish, fail) => {
        this.readings.push({ of, finish, fail });
      });
  }

  show(part: Partial<MediaPlayer>): void {
    const player = { playback: 'playing', artUrl: 'file:///covers/a%20b.png', ...part } as const;
    this.host.snapshot = snapshotOf(
      playerOf('mpv', player),
      playerOf('vlc', { playback: 'paused', artUrl: 'file:///v.png' }),
    );
  }

  /** A request, after it has reached the host or been refused. */
  async ask(name?: string) {
    const picture = this.media.art(name);
    picture.catch(() => undefined);
    await settle();
    return { picture };
  }
}

t.test('[6.art-shared] requests for the same file share one reading and one buffer', async (t) => {
  const rig = new Rig();
  const asked = await Promise.all(Array.from({ length: 300 }, () => rig.ask()));
  t.strictSame(
    rig.readings.map(({ of }) => of),
    [[':1.mpv', '/covers/a b.png', QUOTAS.cover.maxBytes]],
  );
  rig.readings[0]?.finish(PNG);
  for (const { picture } of asked) {
    const { type, bytes } = (await picture) ?? {};
    if (type !== 'image/png' || bytes !== PNG) t.fail(`another picture: ${type}`);
  }
  await rig.clock.advance(1999);
  t.equal((await (await rig.ask()).picture)?.bytes, PNG, 'and for 2 s those that come later');
  t.equal(rig.readings.length, 1);
  await rig.clock.advance(1);
  const { picture } = await rig.ask();
  t.equal(rig.readings.length, 2, 'then the file is read again');
  rig.readings[1]?.finish(Buffer.from('GIF89a'));
  t.match(await picture, { type: 'image/gif' });
});

t.test('[6.art-shared] one picture is kept, that of the file named last', async (t) => {
  const rig = new Rig();
  const read = async (file: string) => {
    rig.show({ artUrl: `file://${file}` });
    const { picture } = await rig.ask();
    rig.readings.at(-1)?.finish(PNG);
    await picture;
    return rig.readings.length;
  };
  t.equal(await read('/a.png'), 1);
  await rig.clock.advance(1500);
  t.equal(await read('/b.png'), 2);
  await rig.clock.advance(1500);
  t.equal(await read('/b.png'), 2, 'the time of the first one does not end that of the second');
  t.equal(await read('/a.png'), 3);
  for (const [what, part] of [
    ['another player may have another user', { id: ':1.99' }],
    ['another track may have another picture in the same file', { title: 'next' }],
  ] as const) {
    rig.show({ artUrl: 'file:///a.png', ...part });
    const before = rig.readings.length;
    const { picture } = await rig.ask();
    t.equal(rig.readings.length, before + 1, what);
    rig.readings.at(-1)?.finish(PNG);
    await picture;
  }
  await rig.clock.advance(5000);
  t.equal(rig.clock.timers, 0);
});

t.test('[6.art-hangs] a file that hangs costs one thread, and each client at most 1.5 s', async (t) => {
  const rig = new Rig();
  const { picture: first } = await rig.ask();
  await rig.clock.advance(1000);
  const { picture: second } = await rig.ask();
  await t.rejects((await rig.ask('vlc')).picture, BUSY, 'another file has to wait');
  await rig.clock.advance(499);
  t.equal(await Promise.race([first, second, settle().then(() => 'pending')]), 'pending');
  await rig.clock.advance(1);
  await t.rejects(first, LATE);
  await t.rejects(second, LATE, 'both at the limit of the reading');
  await t.rejects((await rig.ask()).picture, LATE, 'from then on at once');
  await t.rejects((await rig.ask('vlc')).picture, BUSY);
  t.equal(rig.readings.length, 1);
  rig.readings[0]?.finish(PNG);
  await settle();
  t.equal((await (await rig.ask()).picture)?.bytes, PNG, 'it has come after all');
  const { picture: other } = await rig.ask('vlc');
  rig.readings[1]?.finish(PNG);
  t.match(await other, { type: 'image/png' }, 'and others can be read');
});

t.test('a file that cannot be read is not a picture; the reason is logged once', async (t) => {
  const rig = new Rig();
  rig.show({ artUrl: 'file:///covers/a.png' });
  for (const reason of ['no way', 'no way', 'another one']) {
    const { picture } = await rig.ask();
    rig.readings.at(-1)?.fail(new Error(reason));
    t.equal(await picture, undefined);
  }
  t.equal(rig.readings.length, 3, 'a failure is not kept');
  t.strictSame(rig.log, [
    'hostwire info: media: cannot read the picture from mpv: no way',
    'hostwire info: media: cannot read the picture from mpv: another one',
  ]);
  const { picture } = await rig.ask();
  rig.readings.at(-1)?.finish(Buffer.from('root:x:0:0'));
  t.equal(await picture, undefined, 'nor is another file');
});

/** As mpv with mpv-mpris reports an embedded cover. */
const uriOf = (bytes: Buffer, type = 'image/jpeg') => `data:${type};base64,${bytes.toString('base64')}`;
const JPEG = Buffer.concat([Buffer.from('ffd8ffe000104a464946', 'hex'), Buffer.alloc(9004, 7)]);

t.test('[6.art-address] a picture in its own address is decoded, by the rules for files', async (t) => {
  const rig = new Rig();
  let tracks = 0;
  const asked: (readonly [string, number, number])[] = [];
  rig.host.askArtUrl = async (...of) => {
    asked.push(of);
    return rig.host.artUrl;
  };
  const read = async (address: string, isArtLong = address.length > 16384) => {
    rig.host.artUrl = address;
    rig.show({ artUrl: isArtLong ? null : address, isArtLong, title: `track ${++tracks}` });
    return await (await rig.ask()).picture;
  };
  for (const isLong of [false, true]) {
    const picture = await read(uriOf(JPEG), isLong);
    t.equal(picture?.type, 'image/jpeg', isLong ? 'asked for' : 'reported');
    t.ok(picture?.bytes.equals(JPEG));
  }
  t.strictSame(asked, [[':1.mpv', 2 * QUOTAS.cover.maxBytes, 1500]]);
  const whole = Buffer.concat([JPEG, Buffer.alloc(QUOTAS.cover.maxBytes - JPEG.length)]);
  t.ok((await read(uriOf(whole)))?.bytes.equals(whole), '1 MiB');
  t.equal(await read(uriOf(Buffer.concat([whole, Buffer.alloc(1)]))), undefined, 'and one byte more');
  t.equal(
    rig.log.at(-1),
    'hostwire info: media: cannot read the picture from mpv: it has more than 1048576 bytes',
  );
  t.equal((await read(uriOf(PNG, 'text/html')))?.type, 'image/png', 'its type is that of its bytes');
  t.equal((await read('DATA:;BASE64,R0lGODlh%2f%2B%3D'))?.bytes.toString('latin1'), 'GIF89a\xff', 'escaped');
  for (const [what, address] of [
    ['no picture', uriOf(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'image/svg+xml')],
    ['nothing', 'data:image/png;base64,'],
    ['an invalid escape', 'data:image/png;base64,%E0%A4'],
    ['no base64', 'data:text/plain,GIF89a'],
    ['no comma', 'data:image/png;base64'],
  ] as const)
    t.equal(await read(address), undefined, what);
  rig.host.artUrl = null;
  rig.show({ artUrl: null, isArtLong: true });
  t.equal(await (await rig.ask()).picture, undefined, 'a player that does not answer');
  t.match(rig.log.at(-1), /the player did not answer/);
  t.equal(rig.readings.length, 0, 'no file is read for any of them');
});

t.test('[6.art-address] the file that is there is opened, however its name is escaped', async (t) => {
  const rig = new Rig();
  const open = async (artUrl: string, there: string) => {
    rig.show({ artUrl });
    const before = rig.readings.length;
    const { picture } = await rig.ask();
    for (let at = before; at < rig.readings.length; at++) {
      const reading = rig.readings[at];
      if (reading?.of[1] === there) reading.finish(PNG);
      else reading?.fail(new Error(`${reading.of[1]} is not there`));
      await settle();
    }
    return (await picture)?.type;
  };
  for (const [artUrl, there] of [
    ['/covers/a b#1?100%.png', '/covers/a b#1?100%.png'],
    ['file:///covers/a#1.png', '/covers/a#1.png'],
    ['file:///covers/why?.png', '/covers/why?.png'],
    ['file:///covers/100%.png', '/covers/100%.png'],
    ['file:///covers/100%25%20%C3%A4.png', '/covers/100% ä.png'],
    ['file:///covers/50%20off.png', '/covers/50%20off.png'],
    ['file:///covers/a%20b.png?1732000000', '/covers/a b.png'],
    ['file://localhost/covers/a.png', '/covers/a.png'],
    ['FILE:/covers/a.png', '/covers/a.png'],
  ] as const)
    t.equal(await open(artUrl, there), 'image/png', artUrl);
  t.equal(await open('file:///c/a%2Fb.png', '/c/a/b.png'), undefined, 'an encoded slash separates nothing');
  t.equal(
    rig.log.at(-1),
    'hostwire info: media: cannot read the picture from mpv: /c/a%2Fb.png is not there',
    'the likeliest file is the one that is named',
  );
});

t.test('a track without a file of this machine is not read', async (t) => {
  const rig = new Rig();
  for (const artUrl of [
    null,
    '',
    'https://example.org/a.png',
    'file://server/a.png',
    'a.png',
    '//server/a.png',
    'data:image/png,GIF89a',
  ]) {
    rig.show({ artUrl });
    t.equal(await (await rig.ask()).picture, undefined, String(artUrl));
  }
  rig.show({ playback: 'stopped' });
  t.equal(await (await rig.ask()).picture, undefined, 'a stopped player shows the last track');
  await t.rejects((await rig.ask('nobody')).picture, { code: 'player_not_found' });
  t.equal(rig.readings.length, 0);
});
