/** The dashboard's own files: compressed, cached, locked down, public while it is on; and the picture of a track. */
import '../helpers/service/dead-buses.ts';
import { mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import type { Host } from '#src/host/host.js';
import { coverPicture } from '../browser/cover-picture.ts';
import { ask } from '../helpers/clients/http.ts';
import { FakeClock } from '../helpers/fakes/clock.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { livelyHost } from '../helpers/fakes/lively-host.ts';
import { playerOf, snapshotOf } from '../helpers/fakes/media.ts';
import { emptyFolder } from '../helpers/scope.ts';
import { type ConfigPart, serveHere } from '../helpers/service/service.ts';

const DIST = fileURLToPath(new URL('../../../../dist/', import.meta.url));
const KEY = 'k'.repeat(32);
const LOCKED: ConfigPart = { auth: { enabled: true, api_key: KEY } };

/** The answer as it was sent, with its headers by name. */
async function get(url: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') {
  const { port, pathname, search } = new URL(url);
  const answer = await ask(Number(port), pathname + search, { headers, method });
  const byName = answer.headers.map(([name, value]) => [name.toLowerCase(), value] as const);
  return { ...answer, headers: Object.fromEntries(byName) };
}

const served = async (t: Test, config: ConfigPart = {}, host: Host = fixtureHost()) =>
  await serveHere(t, host, config);

/** Their paths at a service without a proxy; the page names them relative to itself. */
const assetsIn = (page: Buffer) =>
  [...page.toString().matchAll(/"(assets\/[^"]+)"/g)].map(([, name = '']) => `/${name}`);

t.test('the page and each of its files come in every encoding, with the same content', async (t) => {
  const { baseUrl } = await served(t);
  const page = await get(`${baseUrl}/`);
  t.equal(page.status, 200);
  t.equal(page.headers['content-type'], 'text/html; charset=utf-8');
  const assets = assetsIn(page.body);
  t.equal(assets.length, 4, 'script, style, icon, licences');
  for (const file of ['/', ...assets]) {
    const plain = await get(`${baseUrl}${file}`);
    const brotli = await get(`${baseUrl}${file}`, { 'accept-encoding': 'gzip, deflate, br' });
    const gzip = await get(`${baseUrl}${file}`, { 'accept-encoding': 'gzip;q=0.8, br;q=0' });
    t.equal(plain.headers['content-encoding'], undefined, `${file} plain`);
    t.equal(brotli.headers['content-encoding'], 'br', `${file} br`);
    t.equal(gzip.headers['content-encoding'], 'gzip', `${file} gzip`);
    t.ok(brotliDecompressSync(brotli.body).equals(plain.body), `${file} unpacked from br`);
    t.ok(gunzipSync(gzip.body).equals(plain.body), `${file} unpacked from gzip`);
    t.equal(plain.headers['vary'], 'Accept-Encoding');
    const head = await get(`${baseUrl}${file}`, {}, 'HEAD');
    t.equal(head.headers['content-length'], String(plain.body.length), `HEAD ${file}`);
  }
});

const sizeOf = (name: string) => statSync(path.join(DIST, name)).size;
/** The dashboard's script and page, and the page of one machine, are not loaded with the page of all machines. */
const NOT_OF_FLEET = /web\/index|host\.html|\/main-/;

for (const { what, folders, without, form, ending, limit } of [
  { what: 'the dashboard', folders: ['web'], without: /^$/, form: 'gzip', ending: '.gz', limit: 70_000 },
  { what: 'the dashboard', folders: ['web'], without: /^$/, form: 'brotli', ending: '.br', limit: 60_000 },
  ...(['gzip', 'brotli'] as const).map((form) => ({
    what: 'the page of all machines',
    folders: ['fleet', 'web'],
    without: NOT_OF_FLEET,
    form,
    ending: form === 'gzip' ? '.gz' : '.br',
    limit: form === 'gzip' ? 70_000 : 50_000,
  })),
])
  t.test(`all of ${what} is at most ${limit / 1000} KB in ${form}`, async (t) => {
    const files = folders
      .flatMap((folder) =>
        readdirSync(path.join(DIST, folder), { recursive: true }).map((name) =>
          path.join(folder, String(name)),
        ),
      )
      .filter((name) => name.endsWith(ending) && !without.test(name));
    const total = files.reduce((sum, name) => sum + sizeOf(name), 0);
    t.comment(`figure: ${what} is ${(total / 1000).toFixed(1)} KB in ${form}`);
    t.ok(files.length >= 4 && total < limit, `${total} bytes`);
  });

t.test(
  'files with a hash are cached for good, the page is requested again, 304 says that nothing changed',
  async (t) => {
    const { baseUrl } = await served(t);
    const page = await get(`${baseUrl}/`);
    t.equal(page.headers['cache-control'], 'no-cache');
    const [script = ''] = assetsIn(page.body);
    const asset = await get(`${baseUrl}${script}`);
    t.equal(asset.headers['cache-control'], 'public, max-age=31536000, immutable');
    for (const [url, etag] of [
      [`${baseUrl}/`, page.headers['etag']],
      [`${baseUrl}${script}`, asset.headers['etag']],
    ] as const) {
      t.type(etag, 'string');
      const again = await get(url, { 'if-none-match': `"other", ${String(etag)}` });
      t.equal(again.status, 304);
      t.equal(again.body.length, 0);
      t.equal(again.headers['etag'], etag);
      t.equal((await get(url, { 'if-none-match': '"other"' })).status, 200);
    }
  },
);

t.test('the page may do only what it needs', async (t) => {
  const { baseUrl } = await served(t);
  const page = await get(`${baseUrl}/`);
  const policy = new Map(
    String(page.headers['content-security-policy'])
      .split('; ')
      .map((part) => [part.split(' ')[0] ?? '', part.split(' ').slice(1).join(' ')]),
  );
  t.equal(policy.get('default-src'), "'none'");
  t.equal(policy.get('script-src'), "'self'");
  t.equal(policy.get('style-src'), "'self'");
  t.equal(policy.get('connect-src'), "'self'");
  t.equal(policy.get('img-src'), "'self' blob: data:");
  t.equal(policy.get('frame-ancestors'), "'none'");
  t.equal(policy.get('base-uri'), "'none'");
  t.equal(policy.get('form-action'), "'none'");
  t.match(page.headers, {
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  });
  t.match(page.headers['permissions-policy'], /camera=\(\)/);
  t.notMatch(
    page.body.toString(),
    /https?:|<script>|style=|onclick/,
    'nothing inline, nothing from elsewhere',
  );
});

t.test(
  '[1.step2-dashboard] the files are public while the dashboard is on, and nothing else is; off, they are not served',
  async (t) => {
    const service = await served(t, LOCKED);
    const page = await get(`${service.baseUrl}/`);
    t.equal(page.status, 200);
    for (const file of assetsIn(page.body))
      t.equal((await get(`${service.baseUrl}${file}`)).status, 200, file);
    for (const other of ['/index.html', '/assets/', '/assets/other.js', '/api/media/art', '/api/stream'])
      t.equal((await get(`${service.baseUrl}${other}`)).status, 401, other);
    service.reconfigure({ ...LOCKED, features: { enable_dashboard: false } });
    t.equal((await get(`${service.baseUrl}/`)).status, 401);
    service.reconfigure({ features: { enable_dashboard: false } });
    const off = await get(`${service.baseUrl}/`);
    t.equal(off.status, 403);
    t.equal(off.headers['x-error-code'], 'feature_disabled');
    t.equal(off.body.length, 0);
  },
);

t.test('a sample is taken when the page is opened, but not for a client without access', async (t) => {
  const open = fixtureHost();
  await get(`${(await served(t, {}, open)).baseUrl}/`);
  await new Promise((resolve) => setTimeout(resolve, 300));
  t.ok(open.reads >= 2, `${open.reads} readings`);
  const locked = fixtureHost();
  await get(`${(await served(t, LOCKED, locked)).baseUrl}/`);
  await new Promise((resolve) => setTimeout(resolve, 300));
  t.equal(locked.reads, 0);
});

t.test('art: the picture of the current track, and no other file', async (t) => {
  const folder = emptyFolder(t, 'art');
  const place = (name: string, bytes: Buffer | string) => {
    writeFileSync(path.join(folder, name), bytes);
    return pathToFileURL(path.join(folder, name)).href;
  };
  const host = livelyHost();
  const { baseUrl, reconfigure } = await served(t, {}, host);
  const show = async (artUrl: string | null) => {
    host.media.change(snapshotOf(playerOf('player', { playback: 'playing', title: 'x', artUrl })));
    return await get(`${baseUrl}/api/media/art`);
  };
  const picture = coverPicture();
  const png = await show(place('größe 1.png', picture));
  t.equal(png.status, 200);
  t.equal(png.headers['content-type'], 'image/png');
  t.equal(png.headers['x-content-type-options'], 'nosniff');
  t.equal(png.headers['cache-control'], 'no-store');
  t.ok(png.body.equals(picture));
  const kinds = [
    ['image/jpeg', Buffer.from('ffd8ffe000104a464946', 'hex')],
    ['image/gif', Buffer.from('GIF89a\x01\x00', 'latin1')],
    ['image/webp', Buffer.from('RIFF\x10\x00\x00\x00WEBPVP8 ', 'latin1')],
  ] as const;
  for (const [type, bytes] of kinds)
    t.equal((await show(place(`${type.slice(6)}.txt`, bytes))).headers['content-type'], type, type);
  mkdirSync(path.join(folder, 'folder'));
  symlinkSync('/dev/zero', path.join(folder, 'device'));
  for (const [what, url] of [
    ['text', place('secret.png', 'root:x:0:0')],
    ['a drawing that may hold scripts', place('a.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>')],
    ['too much', place('big.png', Buffer.concat([picture, Buffer.alloc(1024 * 1024)]))],
    ['a folder', pathToFileURL(path.join(folder, 'folder')).href],
    ['a device', pathToFileURL(path.join(folder, 'device')).href],
    ['nothing', pathToFileURL(path.join(folder, 'none.png')).href],
    ['empty', place('empty.png', '')],
    ['another site', 'https://example.org/a.png'],
    ['another machine', 'file://server/share/a.png'],
    ['no URL', 'file:///%zz'],
    ['no picture at all', null],
  ] as const)
    t.equal((await show(url)).status, 404, what);
  t.equal((await get(`${baseUrl}/api/media/art?player=nobody`)).status, 404);
  reconfigure({ features: { enable_media: false } });
  t.equal((await show(place('1.png', picture))).status, 403);
});

t.test('[6.art-shared] 300 requests for a picture cost one reading', async (t) => {
  const folder = emptyFolder(t, 'art');
  const file = path.join(folder, 'cover.png');
  const picture = Buffer.concat([coverPicture(), Buffer.alloc(64 * 1024, 7)]);
  writeFileSync(file, picture);
  const host = livelyHost();
  const { media } = host;
  media.snapshot = snapshotOf(playerOf('player', { playback: 'playing', artUrl: pathToFileURL(file).href }));
  // The file is read when all requests have arrived.
  let arrived = 0;
  let release: () => void = () => undefined;
  const haveArrived = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { readPlayers, readArt } = media;
  media.readPlayers = () => {
    if (++arrived === 300) release();
    return readPlayers.call(media);
  };
  media.readArt = async (...args) => {
    await haveArrived;
    return await readArt.apply(media, args);
  };
  // No time passes for the service: a picture is kept for 2 s, and a busy machine may send the last requests later.
  const { baseUrl } = await serveHere(t, host, {}, { clock: new FakeClock() });
  const answers = await Promise.all(Array.from({ length: 300 }, () => get(`${baseUrl}/api/media/art`)));
  t.ok(answers.every(({ status, body }) => status === 200 && body.equals(picture)));
  t.strictSame(media.artReads, [{ id: ':1.player', file }]);
});
