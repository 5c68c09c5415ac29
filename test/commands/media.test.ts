/** The media commands, with players and a clock that the test owns. */
import t, { type Test } from 'tap';
import type { Outcome } from '#src/commands/command.js';
import { Media, mediaCommands } from '#src/commands/media.js';
import { DEFAULT_CONFIG } from '#src/config/config.js';
import { ServiceError } from '#src/errors.js';
import { createLog } from '#src/log/log.js';
import { Commands } from '#src/machine/commands.js';
import type { Params } from '#src/params.js';
import { FakeClock } from '../helpers/fakes/clock.ts';
import { FakeConfig } from '../helpers/fakes/config.ts';
import { FakeMediaHost, playerOf, snapshotOf } from '../helpers/fakes/media.ts';
import { SENDER } from '../helpers/fakes/sender.ts';
import { invoke } from '../helpers/invoke.ts';

const FOUR = ['play', 'pause', 'next', 'prev'];
const VOLUME = ['set_volume', 'volume_up', 'volume_down', 'mute', 'unmute', 'toggle_mute'];
const HONEST = ['play_pause', 'stop', 'previous', 'seek', ...VOLUME];
const VALUES: Readonly<Record<string, Params>> = { seek: { value: 2 }, set_volume: { value: 50 } };

class Rig {
  readonly clock = new FakeClock();
  readonly host = new FakeMediaHost();
  readonly log: string[] = [];
  readonly config = new FakeConfig();
  changes = 0;
  /** The error that the last answer does not show. */
  failure: ServiceError | undefined;
  readonly media: Media;
  readonly commands: Commands;

  constructor(hasHost = true) {
    this.media = new Media({
      host: hasHost ? this.host : undefined,
      clock: this.clock,
      config: this.config,
      log: createLog((line) => this.log.push(line.trim()), 'info'),
    });
    this.media.onChange(() => this.changes++);
    this.commands = new Commands(mediaCommands(this.media), this.config);
  }

  async ask(action: string, params: Params = VALUES[action] ?? {}): Promise<Outcome> {
    const outcome = await invoke(this.commands, `media.${action}`, params, SENDER);
    const { failure, ...answered } = outcome;
    this.failure = failure;
    return answered;
  }

  /** How `action` is refused: status, code, reason. */
  async refusal(action: string, params: Params = VALUES[action] ?? {}): Promise<readonly unknown[]> {
    try {
      await this.ask(action, params);
    } catch (error) {
      if (error instanceof ServiceError) return [error.status, error.code, error.details?.['reason']];
      throw error;
    }
    throw new Error(`${action} was not refused`);
  }
}

const OK = { status: 'ok' };

t.test('[6.control] each action is one call to the selected player', async (t) => {
  const rig = new Rig();
  rig.host.snapshot = snapshotOf(playerOf('a'), playerOf('b', { lastPlayedMs: 1, volume: 0.5 }));
  const verbs = ['play', 'pause', 'next', 'previous', 'play_pause', 'stop', 'previous', 'seek'];
  for (const action of [...FOUR, ...HONEST])
    t.strictSame(await rig.ask(action), { result: OK, delivered: 'true' }, action);
  t.strictSame(
    rig.host.controls.map(({ verb }) => verb),
    [...verbs, ...VOLUME.map(() => 'set_volume')],
    'play and pause are two, never a toggle',
  );
  for (const { id, limitMs } of rig.host.controls) t.ok(id === ':1.b' && limitMs <= 1000);
  t.strictSame(
    rig.host.controls.map(({ value }) => value).filter((value) => value !== undefined),
    [2, 0.5, 0.55, 0.5, 0, 0.5, 0],
    'seek in seconds, volume of 1',
  );
  t.strictSame(rig.log, []);
});

t.test('[6.player] a named player gets the command; one that is not there: 404', async (t) => {
  const rig = new Rig();
  rig.host.snapshot = snapshotOf(playerOf('a', { playback: 'playing' }), playerOf('b'));
  t.equal((await rig.ask('play', { player: 'b' })).delivered, 'true');
  t.equal(rig.host.controls[0]?.id, ':1.b');
  for (const action of [...FOUR, ...HONEST])
    t.strictSame(
      await rig.refusal(action, { ...VALUES[action], player: 'c' }),
      [404, 'player_not_found', undefined],
      action,
    );
  await t.rejects(rig.media.status('c', false), { code: 'player_not_found' });
  t.strictSame(await rig.media.status('b', false), { status: 'idle', title: '', artist: '' });
  t.equal(rig.host.controls.length, 1);
});

/** Both kinds of action, on a machine where none can succeed. */
async function checkFailure(
  t: Test,
  rig: Rig,
  expected: { readonly delivered: string; readonly refusal: readonly unknown[]; readonly reason: string },
): Promise<void> {
  for (const action of FOUR) {
    t.strictSame(await rig.ask(action), { result: OK, delivered: expected.delivered }, action);
    t.equal(rig.failure?.details?.['reason'], expected.reason, action);
    t.equal(rig.log.at(-1), `hostwire info: media: ${action} failed: ${expected.reason}`);
  }
  for (const action of HONEST)
    t.strictSame(await rig.refusal(action), [...expected.refusal, expected.reason], action);
}

t.test('[6.control] [6.more-actions] no player: the four say ok and false, the others 409', async (t) => {
  const rig = new Rig();
  await checkFailure(t, rig, {
    delivered: 'false',
    refusal: [409, 'not_possible_now'],
    reason: 'no player found',
  });
  t.strictSame(rig.host.controls, []);
});

t.test('[6.control] [6.more-actions] no bus and no keys: false, 501 with the reason', async (t) => {
  const rig = new Rig();
  rig.host.snapshot = { ...snapshotOf(), absence: 'there is no bus' };
  for (const action of FOUR) {
    t.strictSame(await rig.ask(action), { result: OK, delivered: 'false' });
    t.match(rig.log.at(-1), 'failed: there is no bus; there are no keys here');
  }
  for (const action of HONEST)
    t.match(await rig.refusal(action), [501, 'not_supported', /^there is no bus; /]);
  t.strictSame(await rig.media.capability(), { enabled: true, supported: false, reason: 'there is no bus' });
});

t.test('[6.control] a platform without players', async (t) => {
  const rig = new Rig(false);
  const reason = 'media players are not supported on this platform';
  await checkFailure(t, rig, { delivered: 'false', refusal: [501, 'not_supported'], reason });
  t.strictSame(await rig.media.status(undefined, false), { status: 'stopped', title: '', artist: '' });
  await t.rejects(rig.media.status('x', false), { code: 'player_not_found' });
  t.strictSame(await rig.refusal('play', { player: 'x' }), [404, 'player_not_found', undefined]);
  t.strictSame(await rig.media.capability(), { enabled: true, supported: false, reason });
});

t.test('[6.keys] no bus, but keys: pressed blindly, and the answer says so', async (t) => {
  const rig = new Rig();
  rig.host.snapshot = { ...snapshotOf(), absence: 'there is no bus' };
  rig.host.keys = null;
  for (const action of [...FOUR, 'play_pause', 'stop', 'previous'])
    t.strictSame(await rig.ask(action), { result: OK, delivered: 'unknown' }, action);
  t.strictSame(rig.host.pressed, ['play', 'pause', 'next', 'previous', 'play_pause', 'stop', 'previous']);
  for (const action of ['seek', ...VOLUME])
    t.strictSame(await rig.refusal(action), [
      501,
      'not_supported',
      'there is no bus; no media key does this',
    ]);
  t.strictSame(await rig.media.capability(), { enabled: true, supported: true, reason: null });
  rig.host.keyFailure = new Error('the device is gone');
  t.equal((await rig.ask('play')).delivered, 'false');
  t.strictSame(await rig.refusal('stop'), [500, 'action_failed', 'the device is gone']);
  t.strictSame(await rig.refusal('play', { player: 'x' }), [404, 'player_not_found', undefined]);
  rig.host.keyFailure = undefined;
  const count = rig.host.pressed.length;
  rig.host.snapshot = snapshotOf();
  t.equal((await rig.ask('play')).delivered, 'false', 'a bus without players: no key');
  t.equal(rig.host.pressed.length, count);
});

t.test('[6.control] [6.more-actions] a player that reports that it cannot is not asked', async (t) => {
  const rig = new Rig();
  rig.host.snapshot = snapshotOf(
    playerOf('p', {
      volume: 1,
      cannot: ['play', 'pause', 'play_pause', 'stop', 'next', 'previous', 'seek', 'set_volume'],
    }),
  );
  await checkFailure(t, rig, {
    delivered: 'false',
    refusal: [409, 'not_possible_now'],
    reason: 'p reports that it cannot do this now',
  });
  t.strictSame(rig.host.controls, []);
  rig.host.snapshot = snapshotOf(playerOf('p', { cannot: ['previous'] }));
  t.equal((await rig.ask('prev')).delivered, 'false');
  t.equal((await rig.ask('next')).delivered, 'true', 'what it can do it is asked');
});

t.test("[6.control] [6.more-actions] [2.500-action] the player's answers", async (t) => {
  const rig = new Rig();
  rig.host.snapshot = snapshotOf(playerOf('p', { volume: 1 }));
  rig.host.reply = { outcome: 'failed', reason: 'no' };
  await checkFailure(t, rig, { delivered: 'false', refusal: [500, 'action_failed'], reason: 'p: no' });
  rig.host.reply = { outcome: 'gone', reason: 'it went' };
  await checkFailure(t, rig, {
    delivered: 'false',
    refusal: [409, 'not_possible_now'],
    reason: 'p: it went',
  });
  rig.host.reply = { outcome: 'unanswered', reason: 'late' };
  await checkFailure(t, rig, { delivered: 'unknown', refusal: [500, 'action_failed'], reason: 'p: late' });
});

t.test(
  '[6.more-actions] volume goes in steps from the last requested value, and stays within its limits',
  async (t) => {
    const rig = new Rig();
    const { host, clock } = rig;
    host.snapshot = snapshotOf(playerOf('p', { volume: 0.92 }), playerOf('q', { volume: 0.2 }));
    host.reportsVolume = false;
    const last = async (action: string, params: Params = {}) => {
      const asked = rig.ask(action, params);
      await clock.advance(500);
      await asked;
      return Math.round((host.controls.at(-1)?.value ?? -1) * 1000) / 1000;
    };
    t.equal(await last('volume_up'), 0.97);
    t.equal(await last('volume_up'), 1, 'the player has not reported it yet');
    t.equal(await last('volume_up'), 1);
    t.equal(await last('volume_down', { player: 'q' }), 0.15, 'the other is another');
    t.equal(await last('set_volume', { value: 3 }), 0.03);
    t.equal(await last('volume_down'), 0);
    t.equal(await last('volume_down'), 0);
    await clock.advance(1000);
    t.equal(await last('volume_down'), 0.87, 'its reports count again');
    await clock.advance(1000);
    host.snapshot = snapshotOf(playerOf('p', { volume: 1.3 }));
    t.equal(await last('volume_up'), 1.3, 'beyond full: not turned down by asking for more');
    t.equal(await last('volume_down'), 1.25);
    host.snapshot = snapshotOf(playerOf('p'));
    await clock.advance(1000);
    t.strictSame(await rig.refusal('volume_up'), [409, 'not_possible_now', 'p does not report its volume']);
  },
);

t.test('[6.kept-volume] a volume that the player has accepted and not changed: false', async (t) => {
  const rig = new Rig();
  const { host, clock } = rig;
  const ask = async (action: string, params: Params = {}) => {
    const asked = rig.ask(action, params);
    await clock.advance(500);
    return await asked;
  };
  host.reportsVolume = false;
  host.snapshot = snapshotOf(playerOf('chromium', { volume: 1 }));
  for (const [action, params] of [
    ['set_volume', { value: 40 }],
    ['volume_down', {}],
    ['mute', {}],
    ['toggle_mute', {}],
  ] as const) {
    t.strictSame(await ask(action, params), { result: OK, delivered: 'false' }, action);
    await clock.advance(1000);
  }
  t.equal(rig.log.at(-1), 'hostwire info: media: toggle_mute failed: chromium did not change its volume');
  t.match(rig.failure, { code: 'action_failed' }, 'which sockets and brokers report');
  t.equal((await ask('set_volume', { value: 100 })).delivered, 'true', 'the volume that it has');
  const late = rig.ask('set_volume', { value: 30 });
  await clock.advance(400);
  host.change(snapshotOf(playerOf('chromium', { volume: 0.3 })));
  t.equal((await late).delivered, 'true', 'reported a little later');
  const near = rig.ask('set_volume', { value: 50 });
  await clock.advance(10);
  host.change(snapshotOf(playerOf('chromium', { volume: 0.4823 })));
  t.equal((await near).delivered, 'true', 'as near as its steps allow');
  host.snapshot = snapshotOf(playerOf('chromium'));
  t.equal((await ask('set_volume', { value: 30 })).delivered, 'true', 'a volume that it does not report');
  host.snapshot = snapshotOf(playerOf('chromium', { volume: 1 }));
  const fought = rig.ask('set_volume', { value: 10 });
  await clock.advance(10);
  for (const volume of [0.1, 1]) host.change(snapshotOf(playerOf('chromium', { volume })));
  await clock.advance(500);
  t.equal((await fought).delivered, 'true', 'set back by somebody else');
  host.isSlow = true;
  const slow = rig.ask('set_volume', { value: 20 });
  await clock.advance(900);
  host.finish();
  await clock.advance(50);
  host.change(snapshotOf(playerOf('chromium', { volume: 0.2 })));
  t.equal((await slow).delivered, 'true', 'after a late answer');
  t.equal(clock.timers, 0);
});

t.test('[6.play-once] play is not sent to a player that plays', async (t) => {
  const rig = new Rig();
  const { host, clock } = rig;
  const sent = () => host.controls.splice(0).map(({ verb }) => verb);
  host.snapshot = snapshotOf(playerOf('audacious', { playback: 'playing', cannot: ['play'] }));
  t.strictSame(await rig.ask('play'), { result: OK, delivered: 'true' });
  t.strictSame(await rig.ask('play', { player: 'audacious' }), { result: OK, delivered: 'true' });
  t.strictSame(sent(), []);
  host.snapshot = snapshotOf(playerOf('audacious', { playback: 'playing' }));
  await rig.ask('pause');
  await rig.ask('play');
  t.strictSame(sent(), ['pause', 'play'], 'the pause is not reported yet');
  await clock.advance(500);
  await rig.ask('play');
  await rig.ask('play_pause');
  t.strictSame(sent(), ['play_pause'], 'the others are sent');
  for (const playback of ['paused', 'stopped'] as const) {
    await clock.advance(500);
    host.snapshot = snapshotOf(playerOf('audacious', { playback }));
    await rig.ask('play');
    t.strictSame(sent(), ['play'], playback);
  }
});

t.test('[6.player] a name that is another one after each start is shown without its number', async (t) => {
  const rig = new Rig();
  const playing = { playback: 'playing', title: 'T' } as const;
  const named = (name: string, part = {}) => ({ ...playerOf(name, part), names: name.split(' ') });
  const names = async (...players: readonly string[]) => {
    rig.host.snapshot = snapshotOf(...players.map((name) => named(name, playing)));
    const status = await rig.media.status(undefined, true);
    return 'players' in status ? status.players : [];
  };
  for (const [given, shown] of [
    [['chromium.instance13325'], ['chromium']],
    [
      ['firefox.instance_1_84', 'vlc vlc.instance77'],
      ['firefox', 'vlc'],
    ],
    [['io.github.celluloid_player.Celluloid.instance-1'], ['io.github.celluloid_player.Celluloid']],
    [
      ['mpv', 'mpv.instance77'],
      ['mpv', 'mpv.instance77'],
    ],
    [
      ['chromium.instance2', 'chromium.instance1'],
      ['chromium.instance1', 'chromium.instance2'],
    ],
    [
      ['my.instances', 'plasma-browser-integration'],
      ['my.instances', 'plasma-browser-integration'],
    ],
  ] as const)
    t.strictSame(await names(...given), shown);
  rig.host.snapshot = snapshotOf(named('chromium.instance13325', playing), named('mpv'));
  for (const player of ['chromium', 'chromium.instance13325'])
    t.equal((await rig.media.status(player, false)).title, 'T', player);
  t.equal((await rig.ask('next', { player: 'chromium' })).delivered, 'true');
  t.equal(rig.host.controls[0]?.id, ':1.chromium.instance13325');
  await t.rejects(rig.media.status('chrom', false), { code: 'player_not_found' });
});

t.test('[6.mute] muting is a volume of 0, and unmuting the one before it', async (t) => {
  const rig = new Rig();
  const { host, clock } = rig;
  const set = (volume: number | null) => {
    host.snapshot = snapshotOf(playerOf('p', { volume }), playerOf('q', { volume: 0.2 }));
  };
  const last = async (action: string, params: Params = {}) => {
    t.equal((await rig.ask(action, params)).delivered, 'true');
    t.equal(host.controls.at(-1)?.verb, 'set_volume');
    return host.controls.at(-1)?.value;
  };
  set(0.4);
  t.equal(await last('unmute'), 0.4, 'it is not muted');
  t.equal(await last('mute'), 0);
  t.equal(await last('mute'), 0, 'twice is once');
  t.equal(await last('unmute'), 0.4, 'before the player has reported the first change');
  t.equal(await last('toggle_mute'), 0);
  set(0);
  await clock.advance(5000);
  t.equal(await last('toggle_mute'), 0.4);
  set(0.4);
  t.equal(await last('set_volume', { value: 0 }), 0);
  t.equal(await last('unmute'), 0.4, 'also after a volume of 0 that a client has set');
  await clock.advance(5000);
  t.equal(await last('mute', { player: 'q' }), 0);
  await clock.advance(5000);
  set(0);
  t.equal(await last('unmute'), 0.4, 'each player has its own');
  host.snapshot = snapshotOf(playerOf('r', { volume: 0 }));
  for (const action of ['unmute', 'toggle_mute'])
    t.strictSame(await rig.refusal(action), [409, 'not_possible_now', 'the volume before muting is unknown']);
  host.snapshot = snapshotOf(playerOf('r', { volume: 1 }));
  await rig.ask('mute');
  set(0);
  await clock.advance(5000);
  t.equal((await rig.refusal('unmute'))[0], 409, 'nothing is kept of players that have left');
  set(null);
  await clock.advance(5000);
  for (const action of ['mute', 'unmute', 'toggle_mute'])
    t.strictSame(await rig.refusal(action), [409, 'not_possible_now', 'p does not report its volume']);
});

t.test('[6.more-actions] seek beyond the end is not possible', async (t) => {
  const rig = new Rig();
  rig.host.snapshot = snapshotOf(playerOf('p', { durationSeconds: 60.5 }));
  t.equal((await rig.ask('seek', { value: 60.5 })).delivered, 'true');
  t.strictSame(await rig.refusal('seek', { value: 60.6 }), [
    409,
    'not_possible_now',
    'the track ends after 60 s',
  ]);
  rig.host.snapshot = snapshotOf(playerOf('p'));
  t.equal((await rig.ask('seek', { value: 1e6 })).delivered, 'true', 'an end that nobody knows');
});

t.test('[6.more-actions] [2.400-fields] values that do not belong', async (t) => {
  const rig = new Rig();
  rig.host.snapshot = snapshotOf(playerOf('p'));
  for (const action of ['seek', 'set_volume']) {
    t.strictSame(await rig.refusal(action, {}), [400, 'missing_field', undefined]);
    for (const value of ['5', null, true, [], {}, -1, -0.001, Number.NaN, 1e300, Number.POSITIVE_INFINITY])
      t.strictSame(
        await rig.refusal(action, { value }),
        [400, 'invalid_value', undefined],
        `${action} ${value}`,
      );
  }
  t.strictSame(await rig.refusal('set_volume', { value: 100.1 }), [400, 'invalid_value', undefined]);
  for (const value of [0, 100]) t.equal((await rig.ask('set_volume', { value })).delivered, 'true');
  for (const player of ['', null, 1, ['p'], {}])
    t.strictSame(await rig.refusal('play', { player }), [400, 'invalid_value', undefined]);
  t.equal((await rig.ask('play', { value: 'whatever' })).delivered, 'true', 'a value that nobody asked for');
});

t.test('[6.feature] switched off: no player is looked for', async (t) => {
  const rig = new Rig();
  rig.config.features = { ...DEFAULT_CONFIG.features, enable_media: false };
  for (const action of [...FOUR, ...HONEST])
    await t.rejects(invoke(rig.commands, `media.${action}`, {}, SENDER), { code: 'feature_disabled' });
  const reason = 'media control is disabled (features.enable_media)';
  t.strictSame(await rig.media.capability(), { enabled: false, supported: false, reason });
  t.equal(rig.host.watched, 0);
});

t.test('[6.slow-player] players are watched from the first request on, and waited for once', async (t) => {
  const rig = new Rig();
  const { host, clock, media } = rig;
  t.equal(host.watched, 0, 'not before');
  host.snapshot = { ...snapshotOf(), isSettled: false };
  const answers: unknown[] = [];
  const first = media.status(undefined, false).then((status) => answers.push(status));
  await clock.advance(5);
  t.equal(answers.length, 0, 'the first waits');
  host.change({ ...snapshotOf(playerOf('p')), isSettled: false });
  await clock.advance(5);
  t.equal(answers.length, 0, 'one has answered, another not');
  host.change(snapshotOf(playerOf('p', { playback: 'paused', title: 'T' })));
  await first;
  t.strictSame(answers, [{ status: 'active', title: 'T', artist: '' }]);
  t.equal(rig.changes, 2);
  await media.status(undefined, false);
  t.equal(host.watched, 1);

  host.snapshot = { ...snapshotOf(), isSettled: false };
  let isAnswered = false;
  void media.status(undefined, false).then(() => {
    isAnswered = true;
  });
  await clock.advance(1090);
  t.notOk(isAnswered);
  await clock.advance(60);
  t.ok(isAnswered, 'for less than 1.5 s');
  let outcome: Outcome | undefined;
  void rig.ask('play').then((answer) => {
    outcome = answer;
  });
  await clock.advance(450);
  t.equal(outcome?.delivered, 'false', 'a command leaves the rest of its time to the player');
});
