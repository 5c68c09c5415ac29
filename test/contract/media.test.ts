/** The media routes over real sockets, with players that the test makes up: exact bodies, headers, refusals. */
import t, { type Test } from 'tap';
import { checkError, checkHeaders, JSON_HEADERS } from '../helpers/clients/answers.ts';
import { ask, jsonOf, type RawAnswer, valuesOf } from '../helpers/clients/http.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { FakeMediaHost, playerOf, snapshotOf } from '../helpers/fakes/media.ts';
import { serveHere } from '../helpers/service/service.ts';
import { until } from '../helpers/until.ts';

const media = new FakeMediaHost();
const service = await serveHere(t, { ...fixtureHost(), media });
const { port } = service;

const CONTRACT = ['play', 'pause', 'next', 'prev'];
const MORE = [
  'play_pause',
  'stop',
  'previous',
  'seek',
  'set_volume',
  'volume_up',
  'volume_down',
  'mute',
  'unmute',
  'toggle_mute',
];
const TRACK = { title: 'Größe – 第二', artists: ['Ärzte', '坂本'] };

t.beforeEach(() => {
  media.snapshot = snapshotOf(
    playerOf('mpv', { ...TRACK, playback: 'playing', volume: 0.5, durationSeconds: 60 }),
    playerOf('vlc', { playback: 'paused', title: 'Other' }),
  );
  media.reply = { outcome: 'done' };
  media.keys = 'there are no keys here';
  media.controls.length = 0;
});

const control = (body: unknown, target = '/api/media/control', headers = {}) =>
  ask(port, target, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

function checkOk(t: Test, answer: RawAnswer, delivered: string): void {
  t.equal(answer.status, 200);
  t.equal(answer.body.toString(), '{"status":"ok"}');
  checkHeaders(t, answer, { ...JSON_HEADERS, 'x-media-delivered': delivered });
}

/** The reason of an error with details. */
function reasonOf(t: Test, answer: RawAnswer, status: number, code: string): string {
  t.equal(answer.status, status);
  checkHeaders(t, answer, JSON_HEADERS);
  // Narrowed by the checks that follow.
  const body = jsonOf(answer) as { error: unknown; code: unknown; details: { reason: unknown } };
  t.strictSame(Object.keys(body), ['error', 'code', 'details']);
  t.equal(body.code, code);
  t.match(body.error, /^[A-Z].*\.$/);
  t.strictSame(Object.keys(body.details), ['reason']);
  return String(body.details.reason);
}

t.test('[6.status] [I.media.status] exactly three string keys', async (t) => {
  const answer = await ask(port, '/api/media/status');
  t.equal(answer.status, 200);
  checkHeaders(t, answer, JSON_HEADERS);
  t.equal(
    answer.body.toString(),
    '{"status":"active","title":"Größe – 第二","artist":"Ärzte, 坂本"}',
    'in UTF-8, in the order of the contract',
  );
  media.snapshot = snapshotOf(playerOf('mpv', { ...TRACK }));
  t.equal((await ask(port, '/api/media/status')).body.toString(), '{"status":"idle","title":"","artist":""}');
  media.snapshot = { ...snapshotOf(), absence: 'no bus' };
  for (const target of ['/api/media/status', '/api/media/status?detail=0'])
    t.equal((await ask(port, target)).body.toString(), '{"status":"stopped","title":"","artist":""}');
  t.equal((await ask(port, '/api/media/status', { method: 'HEAD' })).status, 200);
  t.equal((await ask(port, '/api/media/status', { method: 'POST' })).status, 405);
});

t.test('[6.detail] detail=1 adds the rest', async (t) => {
  const keys = [
    'status',
    'title',
    'artist',
    'playback',
    'playing',
    'album',
    'position',
    'duration',
    'rate',
    'shuffle',
  ];
  keys.push('repeat', 'volume', 'muted', 'supports_ctrl', 'player', 'players', 'art_url', 'has_art');
  for (const detail of ['1', 'true', 'TRUE']) {
    const body = jsonOf(await ask(port, `/api/media/status?detail=${detail}`)) as Record<string, unknown>;
    t.strictSame(Object.keys(body), keys);
    t.match(body, { playing: true, muted: false, supports_ctrl: true });
    t.match(body, { playback: 'playing', player: 'mpv', players: ['mpv', 'vlc'], volume: 50, duration: 60 });
  }
});

t.test('[6.player] [2.404-things] player picks one, in the query and in the body', async (t) => {
  t.strictSame(jsonOf(await ask(port, '/api/media/status?player=vlc')), {
    status: 'active',
    title: 'Other',
    artist: '',
  });
  checkError(t, await ask(port, '/api/media/status?player=gone'), 404, 'player_not_found');
  checkError(t, await ask(port, '/api/media/status?player='), 400, 'invalid_value');
  checkOk(t, await control({ action: 'play', player: 'vlc' }), 'true');
  checkOk(t, await control({ action: 'play' }, '/api/media/control?player=vlc'), 'true');
  checkOk(t, await control({ action: 'pause', player: 'mpv' }, '/api/media/control?player=vlc'), 'true');
  t.strictSame(
    media.controls.map(({ id }) => id),
    [':1.vlc', ':1.vlc', ':1.mpv'],
    'the body wins',
  );
  for (const action of ['play', 'stop'])
    checkError(t, await control({ action, player: 'gone' }), 404, 'player_not_found');
  t.equal(media.controls.length, 3);
});

t.test(
  '[6.control] [I.media.control] the four actions get the same answer, whatever the outcome',
  async (t) => {
    // Play is not sent to a player that plays.
    media.snapshot = snapshotOf(playerOf('mpv', { ...TRACK, playback: 'paused' }));
    for (const [outcome, delivered] of [
      ['done', 'true'],
      ['failed', 'false'],
      ['unanswered', 'unknown'],
    ] as const) {
      media.reply = outcome === 'done' ? { outcome } : { outcome, reason: 'no' };
      for (const action of CONTRACT) checkOk(t, await control({ action }), delivered);
    }
    media.snapshot = snapshotOf();
    checkOk(t, await control({ action: 'prev' }), 'false');
    const reason = /info: media: prev failed: no player found\n/;
    t.match(service.stderr(), reason, 'the reason is in the log');
  },
);

t.test('[6.more-actions] [2.500-action] the others fail honestly', async (t) => {
  const value = 10;
  for (const action of MORE) checkOk(t, await control({ action, value }), 'true');
  const refusal = async (status: number, code: string) =>
    reasonOf(t, await control({ action: 'seek', value }), status, code);
  media.reply = { outcome: 'failed', reason: 'org.example.No: not today' };
  t.equal(await refusal(500, 'action_failed'), 'mpv: org.example.No: not today');
  media.snapshot = snapshotOf();
  t.equal(await refusal(409, 'not_possible_now'), 'no player found');
  media.snapshot = { ...snapshotOf(), absence: 'no bus' };
  t.match(await refusal(501, 'not_supported'), /^no bus; /);
});

t.test(
  '[2.400-fields] fields that are missing from the body, and fields that do not belong in it',
  async (t) => {
    // The rules for bodies of JSON hold: bodies.test.ts.
    checkError(t, await control('{'), 400, 'invalid_json');
    checkError(
      t,
      await control({ action: 'play' }, '/api/media/control', { 'Content-Type': 'text/plain' }),
      415,
      'unsupported_media_type',
    );
    checkError(t, await control({}), 400, 'missing_field');
    checkError(t, await control({ action: 'seek' }), 400, 'missing_field');
    for (const action of [null, 1, true, ['play'], { play: 1 }])
      checkError(t, await control({ action }), 400, 'invalid_value');
    checkError(t, await control({ action: 'seek', value: '10' }), 400, 'invalid_value');
    checkError(t, await control({ action: 'play', player: 7 }), 400, 'invalid_value');
    for (const action of [
      '',
      'Play',
      'play ',
      'media.play',
      'power.sleep',
      'constructor',
      '__proto__',
      'x\r\nX: y',
    ]) {
      const answer = await control({ action });
      t.equal(answer.status, 400);
      checkHeaders(t, answer, JSON_HEADERS);
      t.match(jsonOf(answer), { code: 'unknown_action', details: { allowed: [...CONTRACT, ...MORE] } });
    }
    checkOk(t, await control('{"action":"pause","__proto__":{"player":"gone"},"more":[1]}'), 'true');
    checkOk(t, await control('{"action":"stop","action":"pause"}'), 'true');
    t.equal(media.controls.length, 2, 'nothing that was refused reached a player');
  },
);

t.test('[6.feature] enable_media off: 403 without a body, and no player is contacted', async (t) => {
  const host = new FakeMediaHost();
  const off = await serveHere(t, { ...fixtureHost(), media: host }, { features: { enable_media: false } });
  const requests = [
    ['/api/media/status', {}],
    ['/api/media/control', { method: 'POST', body: '{"action":"play"}' }],
    ['/api/media/control', { method: 'POST', body: 'no json' }],
  ] as const;
  for (const [target, parts] of requests) {
    const answer = await ask(off.port, target, parts);
    t.equal(answer.status, 403);
    t.equal(answer.body.length, 0);
    t.strictSame(valuesOf(answer, 'x-error-code'), ['feature_disabled']);
  }
  t.equal(host.watched, 0);
  off.reconfigure({});
  t.equal((await ask(off.port, '/api/media/status')).status, 200, 'on again after a reload');
  t.equal(host.watched, 1);
});

t.test('[6.slow-player] a player that does not answer holds up no other client', async (t) => {
  media.isSlow = true;
  t.teardown(() => {
    media.isSlow = false;
  });
  // Not play, which is sent to a player that plays only within half a second of another command.
  const waiting = control({ action: 'pause' });
  await until(() => media.controls.length !== 0);
  t.ok((media.controls[0]?.limitMs ?? 9999) <= 1000);
  t.equal((await ask(port, '/api/media/status')).status, 200);
  media.finish();
  checkOk(t, await waiting, 'true');
});

t.test('possible actions are in the capabilities; a host without media serves all the rest', async (t) => {
  const capabilities = async (at: number) =>
    (jsonOf(await ask(at, '/api/system?detail=1')) as { capabilities: { media: unknown } }).capabilities
      .media;
  t.strictSame(await capabilities(port), { enabled: true, supported: true, reason: null });
  const without = await serveHere(t, fixtureHost());
  const reason = 'media players are not supported on this platform';
  t.strictSame(await capabilities(without.port), { enabled: true, supported: false, reason });
  const answer = await ask(without.port, '/api/media/status');
  t.strictSame(jsonOf(answer), { status: 'stopped', title: '', artist: '' });
});
