/** The media routes of the service on Windows: with made-up sessions, and without any. */
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { PATIENCE_MS } from '../helpers/limits.ts';
import { emptyFolder } from '../helpers/scope.ts';
import { buildFakeSmtc } from './fake-smtc.ts';
import { startOnWindows, windowsPath } from './wine.ts';
import { openPrefix, runUnderWine } from './wine-program.ts';

const CLASS = 'Windows.Media.Control.GlobalSystemMediaTransportControlsSessionManager';
const KEY = `HKLM\\Software\\Microsoft\\WindowsRuntime\\ActivatableClassId\\${CLASS}`;

/** The answers of the routes; each test reads only the keys it names. */
interface Answer {
  readonly status: number;
  readonly delivered: string | null;
  readonly body: Readonly<Record<string, unknown>>;
}

const clientOf = (baseUrl: string) => {
  const read = async (answer: Response): Promise<Answer> => ({
    status: answer.status,
    delivered: answer.headers.get('x-media-delivered'),
    // A JSON object: the contract says so, and the tests look.
    body: (await answer.json()) as Answer['body'],
  });
  return {
    status: async () => read(await fetch(`${baseUrl}/api/media/status?detail=1`)),
    plain: async () => (await read(await fetch(`${baseUrl}/api/media/status`))).body,
    control: async (action: string, value?: number) =>
      read(
        await fetch(`${baseUrl}/api/media/control`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ action, ...(value === undefined ? {} : { value }) }),
        }),
      ),
  };
};

t.setTimeout(300_000);

t.test('[6.windows] sessions: distinguished, commanded, refusals reported', async (t) => {
  const folder = emptyFolder(t, 'media');
  const library = await buildFakeSmtc(folder);
  const prefix = openPrefix();
  t.teardown(() => prefix.close());
  const add = ['reg', 'add', KEY, '/v', 'DllPath', '/t', 'REG_SZ', '/d', windowsPath(library), '/f'];
  t.equal((await runUnderWine(add, prefix.env)).code, 0);
  const commands = path.join(folder, 'commands');
  const say = (...lines: readonly string[]) => appendFileSync(commands, `${lines.join('\n')}\n`);
  say('add a Spotify.exe', 'set a status 5', 'set a title Blue in Green', 'set a artist Miles Davis');
  say('set a start 0', 'set a end 3370000000', 'add b chrome.exe', 'set b status 3', 'current a');
  const service = await startOnWindows(
    {},
    { env: { WINEPREFIX: prefix.folder, FAKE_SMTC_COMMANDS: windowsPath(commands) } },
  );
  const client = clientOf(service.baseUrl);
  /** Waits until the service has seen the commands of `say`. */
  const until = async (is: (body: Answer['body']) => boolean) => {
    for (const begun = performance.now(); performance.now() - begun < PATIENCE_MS; ) {
      const { body } = await client.status();
      if (is(body)) return body;
      await sleep(50);
    }
    return (await client.status()).body;
  };
  const MILES = { status: 'active', title: 'Blue in Green', artist: 'Miles Davis' };
  await until((body) => body['playback'] === 'paused');
  t.same(await client.plain(), MILES, 'paused is active');
  t.match((await client.status()).body, {
    playback: 'paused',
    player: 'Spotify',
    players: ['Spotify', 'chrome'],
    duration: 337,
    volume: null,
  });
  t.match(await client.control('play'), { status: 200, delivered: 'true', body: { status: 'ok' } });
  say('fire playback a');
  t.match(await until((body) => body['playback'] === 'playing'), { ...MILES, playback: 'playing' });
  t.same(await client.plain(), MILES, 'playing is active too');
  t.match(await client.control('seek', 61.5), { status: 200, delivered: 'true' });
  t.match(await until((body) => Number(body['position']) > 60), { position: Number });
  say('do a refuse 1');
  await sleep(200);
  t.match(await client.control('next'), { status: 200, delivered: 'false', body: { status: 'ok' } });
  t.match(await client.control('stop'), {
    status: 500,
    body: { details: { reason: 'Spotify: it refused' } },
  });
  t.match(await client.control('set_volume', 50), { status: 409 });
  say('do a refuse 0', 'do a hang 1');
  await sleep(200);
  const begin = performance.now();
  t.match(await client.control('next'), { status: 200, delivered: 'unknown' });
  const took = performance.now() - begin;
  t.ok(took >= 900 && took < 1500, `a player that never answers costs ${Math.round(took)} ms`);
  say('remove a', 'remove b', 'fire sessions');
  t.match(await until((body) => body['status'] === 'stopped'), { title: '', artist: '', players: [] });
  const ending = await service.stop();
  t.equal(ending.code, 0, ending.stderr);
});

t.test('[6.windows] without that part of Windows: a media key, and delivery is unknown', async (t) => {
  const service = await startOnWindows();
  const client = clientOf(service.baseUrl);
  t.same(await client.plain(), { status: 'stopped', title: '', artist: '' });
  t.match(await client.control('play'), { status: 200, delivered: 'unknown', body: { status: 'ok' } });
  t.match(await client.control('seek', 1), { status: 501 });
  const { body } = await fetch(`${service.baseUrl}/api/system?detail=1`).then(async (answer) => ({
    // As above.
    body: (await answer.json()) as { capabilities: unknown },
  }));
  t.match(body.capabilities, {
    media: { supported: true, reason: null },
    power: { shutdown: { enabled: false } },
  });
  t.equal((await service.stop()).code, 0);
});
