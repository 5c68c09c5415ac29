/** /api/ws from Chromium's WebSocket in a page of the service: every op, every event, every error. */
import '../../helpers/service/dead-buses.ts';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import t, { type Test } from 'tap';
import { OPS } from '#src/wire/socket.js';
import { EVENTS } from '#src/wire/socket-events.js';
import type { Told } from '../../helpers/clients/talk.ts';
import { fixtureHost } from '../../helpers/fakes/host.ts';
import { FakeMediaHost, playerOf, snapshotOf } from '../../helpers/fakes/media.ts';
import { type ConfigPart, serveHere, serveProgram } from '../../helpers/service/service.ts';
import { skipBrowser, startBrowser, until } from '../browser.ts';
import { SocketPage } from '../page-socket.ts';

t.setTimeout(280_000);

const QUICK: ConfigPart = { stats: { stream_interval_seconds: 1 } };
const SECTIONS = ['cpu', 'memory', 'gpu', 'disks', 'network'];
const sleeper = { command: '/bin/sleep', args: ['60'], env: {}, allow_args: false };
const sectionsOf = ({ data }: Told) => Object.keys(data).filter((key) => SECTIONS.includes(key));
const stagesOf = (answers: readonly Told[]) => answers.map(({ data }) => data['stage']);
const playing = (title: string) => snapshotOf(playerOf('p', { playback: 'playing', title }));

if (skipBrowser) t.test("Chromium's WebSocket", { skip: skipBrowser }, () => undefined);
else {
  const browser = await startBrowser(t);
  const service = await serveProgram(t, {
    config: {
      ...QUICK,
      features: { enable_process_control: true, enable_wake: true },
      processes: { launch: { sleeper } },
      // Its packets stay on this machine.
      wake: { hosts: { nas: { mac: '02:00:5e:10:00:00', broadcast: '127.0.0.1', port: 9 } } },
    },
  });
  /** The dashboard of the program: a page with the strictest policy. */
  const own = await SocketPage.open(t, browser, service.baseUrl);
  const pages = [own];

  /** A service with a fake player, and a page of it. */
  const startMedia = async (t: Test, features: Readonly<Record<string, boolean>> = {}) => {
    const media = new FakeMediaHost();
    media.snapshot = playing('one');
    const here = await serveHere(t, Object.assign(fixtureHost(), { media }), { ...QUICK, features });
    const page = await SocketPage.open(t, browser, here.baseUrl);
    pages.push(page);
    return { media, here, page, client: await page.connect() };
  };

  t.test('[7.upgrade] [7.compression] no subprotocol or extension is negotiated', async (t) => {
    const client = await own.connect();
    t.strictSame([client.protocol, client.extensions], ['', ''], 'Chromium offers permessage-deflate');
    client.close();
    t.equal((await client.closed).code, 1000);
    t.ok(client.wasClean, 'and a close is answered');
  });

  t.test('[7.connected] [7.frames] the greeting comes first', async (t) => {
    const client = await own.connect();
    const { text, data } = await client.take('connected');
    t.equal(client.told[0]?.type, 'connected');
    t.strictSame(Object.keys(data), ['version', 'protocol', 'features', 'message']);
    t.match(data, { version: String, protocol: 2, features: { enable_process_control: true } });
    t.equal(text, JSON.stringify({ type: 'connected', data }), 'one text frame of JSON');
    client.close();
  });

  t.test('[7.ping] [7.id] ids are returned unchanged', async (t) => {
    const client = await own.connect();
    for (const id of ['a', 'ä"\\ 🎵', 0, -7, 2 ** 53 - 1]) {
      const { type, id: echoed, data } = await client.ask('ping', undefined, id);
      t.strictSame([type, echoed, data], ['pong', id, {}]);
    }
    client.say('ping');
    t.notOk('id' in (await client.take('pong')));
    client.close();
  });

  t.test(
    '[7.subscribe] [7.snapshot] [7.topics] [7.modes] [7.system-stats] topics are added and removed, and ticks with them',
    async (t) => {
      const client = await own.connect();
      t.strictSame(
        (await client.ask('subscribe', { topics: ['cpu', 'power', 'nonsense'] }, 1)).data,
        { topics: ['stats.cpu', 'power'], unknown: ['nonsense'] },
        'it comes first, and lists unknown names',
      );
      const snapshots = [
        await client.take((message) => message.id === 1),
        await client.take((message) => message.id === 1),
      ];
      t.strictSame(snapshots.map(({ type }) => type).sort(), ['power_update', 'system_stats']);
      const ticks = [await client.take('system_stats'), await client.take('system_stats')];
      for (const tick of ticks) {
        t.strictSame(sectionsOf(tick), ['cpu']);
        t.notOk('id' in tick, 'a tick is no answer');
      }
      const [first, second] = ticks.map(({ data }) => Number(data['timestamp']));
      t.ok(Number(second) >= Number(first), 'ticks go on');

      client.say('subscribe', { topics: ['stats.memory', 'processes'], mode: 'add', detail: true }, 2);
      t.match((await client.take((message) => message.id === 2)).data, {
        topics: ['stats.cpu', 'stats.memory', 'processes', 'power'],
      });
      const both = await client.take(
        (message) => message.type === 'system_stats' && sectionsOf(message).length === 2,
      );
      t.match(both.data, { cpu: { cores: Array }, host: String }, 'with detail');
      t.match((await client.take('process_list')).data, { total_count: Number, processes: Array });
      t.notOk(
        'id' in (await client.take((message) => message.type === 'process_list' && message.id === undefined)),
      );

      t.match((await client.ask('subscribe', { topics: ['network'] }, 3)).data, {
        topics: ['stats.network'],
      });
      t.strictSame(
        sectionsOf(await client.take((message) => message.id === 3)),
        ['network'],
        'instead of the others',
      );
      t.strictSame((await client.ask('unsubscribe', { topics: ['cpu'] }, 4)).data, {
        topics: ['stats.network'],
      });
      t.strictSame((await client.ask('unsubscribe', undefined, 5)).data, { topics: [] });
      await client.settle();
      await new Promise((resolve) => setTimeout(resolve, 1300));
      t.strictSame(await client.settle(), [], 'then it is quiet');
      client.close();
    },
  );

  t.test('[7.get] one event per topic', async (t) => {
    const client = await own.connect();
    client.say('get', { topics: ['cpu', 'memory', 'power', 'processes', 'nope'] }, 'g');
    const answers: Told[] = [];
    while (answers.length < 5) answers.push(await client.take((message) => message.id === 'g'));
    t.strictSame(answers.map(({ type }) => type).sort(), [
      'error',
      'power_update',
      'process_list',
      'system_stats',
      'system_stats',
    ]);
    t.match(answers.find(({ type }) => type === 'error')?.data, { code: 'INVALID_DATA' });
    client.close();
  });

  t.test('[7.process-ops] [7.kill-socket] a process is found, inspected and ended', async (t) => {
    const child = spawn('/bin/sleep', ['61'], { stdio: 'ignore' });
    t.teardown(() => child.kill('SIGKILL'));
    const ended = once(child, 'exit');
    const client = await own.connect();
    // A list younger than 1 s is reused.
    await new Promise((resolve) => setTimeout(resolve, 1100));
    const list = await client.ask('process_list', { grouped: false, query: String(child.pid) }, 1);
    t.match(list, { type: 'process_list', data: { total_count: Number } });
    t.match(
      (list.data['processes'] as readonly { readonly pid: number }[]).find(({ pid }) => pid === child.pid),
      { pid: child.pid, name: 'sleep', ppid: process.pid },
    );
    const readDetails = async () => await client.ask('process_details', { pid: child.pid }, 2);
    let details = await readDetails();
    // A command line that is not read within its limit, on a busy machine, is left out.
    while (JSON.stringify(details.data).includes('"command":[]')) details = await readDetails();
    t.match(details, {
      type: 'process_details',
      data: { name: 'sleep', count: 1, processes: [{ pid: child.pid, command: ['/bin/sleep', '61'] }] },
    });
    const kill = await client.askToEnd('process_kill', { pid: child.pid }, 3);
    t.strictSame(stagesOf(kill), ['accepted', 'running', 'done']);
    t.match(kill.at(-1)?.data, { success: true, pid: child.pid, count: 1 });
    await ended;
    t.equal(child.signalCode, 'SIGTERM');
    client.say('process_kill', { pid: child.pid });
    t.match((await client.take('process_feedback')).data, { success: false, code: 'NOT_FOUND', final: true });
    client.say('process_kill', { pid: service.pid });
    t.match((await client.take('process_feedback')).data, { success: false, code: 'PROTECTED' });
    client.close();
  });

  t.test('[7.process-ops] [7.error-forbidden] an app of the configuration is started', async (t) => {
    const client = await own.connect();
    const launched = (await client.askToEnd('process_launch', { app: 'sleeper' }, 'l')).at(-1)?.data;
    t.match(launched, { success: true, action: 'launch', name: 'sleeper', pid: Number, stage: 'done' });
    const killed = await client.askToEnd('process_kill', { pid: launched?.['pid'], signal: 'kill' }, 'k');
    t.match(killed.at(-1)?.data, { success: true, name: 'sleep', count: 1 }, 'it ran');
    const refused = await client.askToEnd('process_launch', { app: 'sleeper', args: ['1'] }, 'f');
    t.match(refused.at(-1), {
      type: 'error',
      data: { code: 'FORBIDDEN' },
    });
    client.close();
  });

  t.test('[3.wake-socket] a machine of the configuration is woken', async (t) => {
    const client = await own.connect();
    const woken = (await client.askToEnd('wake', { host: 'nas' }, 'w')).at(-1)?.data;
    t.match(woken, { success: true, name: 'nas', targets: [{ address: '127.0.0.1', packets: 3 }] });
    client.close();
  });

  t.test('[7.feedback-one] [7.feedback-stages] [7.feedback-others] [7.power-update] power', async (t) => {
    const client = await own.connect();
    const follower = await own.connect();
    await follower.ask('subscribe', { topics: ['power'] }, 'f');
    await follower.take('power_update');
    t.strictSame(stagesOf(await client.askToEnd('power', { action: 'lock' }, 1)), [
      'accepted',
      'running',
      'done',
    ]);
    const heard = await follower.take('power_feedback');
    t.strictSame(heard.data, { success: true, action: 'lock', message: 'Done', final: true });
    t.notOk('id' in heard, 'others hear how it ended, no more');
    t.match((await follower.take('power_update')).data, { recorded: [{ action: 'lock' }] }, 'only recorded');
    client.say('power', { action: 'sleep' });
    t.strictSame((await client.take('power_feedback')).data, {
      success: true,
      action: 'sleep',
      message: 'Command initiated',
      final: true,
    });
    await follower.take('power_feedback');
    const feedback = (await client.settle()).filter(({ type }) => type === 'power_feedback');
    t.strictSame(feedback, [], 'without an id that was all');
    client.close();
    follower.close();
  });

  t.test('[7.power-scheduled] [7.power-update] a scheduled action can be cancelled', async (t) => {
    const client = await own.connect();
    const follower = await own.connect();
    await follower.ask('subscribe', { topics: ['power'] }, 'f');
    await follower.take('power_update');
    t.match((await client.ask('power', { action: 'sleep', delay: 60 }, 'later')).data, {
      stage: 'accepted',
      final: false,
    });
    t.match((await follower.take('power_update')).data, { pending: { action: 'sleep', at: Number } });
    client.say('power', { action: 'cancel' }, 'x');
    t.match((await client.take((message) => message.id === 'later')).data, {
      stage: 'cancelled',
      final: true,
    });
    t.match((await client.take((message) => message.id === 'x')).data, { action: 'cancel', stage: 'done' });
    t.match((await follower.take('power_update')).data, { pending: null });
    client.close();
    follower.close();
  });

  t.test('[7.media-update] [7.feedback-one] [7.feedback-stages] [7.media-honest] media', async (t) => {
    const { media, page, client } = await startMedia(t);
    const follower = await page.connect();
    await follower.ask('subscribe', { topics: ['media'] }, 'f');
    t.match((await follower.take('media_update')).data, { status: 'active', title: 'one' });
    media.change(playing('Größe 第二 🎵'));
    t.strictSame((await follower.take('media_update')).data, {
      status: 'active',
      title: 'Größe 第二 🎵',
      artist: '',
    });
    t.strictSame(stagesOf(await client.askToEnd('media', { action: 'next' }, 1)), [
      'accepted',
      'running',
      'done',
    ]);
    t.match((await follower.take('media_feedback')).data, { success: true, action: 'next', final: true });
    t.match(media.controls, [{ verb: 'next' }]);
    media.snapshot = snapshotOf();
    client.say('media', { action: 'play' });
    t.match((await client.take('media_feedback')).data, { success: false, code: 'CONFLICT', final: true });
  });

  t.test('[7.history] [7.events] the past, and the reports of a watch rule', async (t) => {
    const config: ConfigPart = { ...QUICK, history: { minutes: 60 } };
    const here = await serveHere(t, fixtureHost(), config);
    const page = await SocketPage.open(t, browser, here.baseUrl);
    pages.push(page);
    const client = await page.connect();
    // With a subscriber of samples a rule is judged every second.
    const topics = ['stats.memory', 'events'];
    t.match((await client.ask('subscribe', { topics }, 1)).data, { topics, unknown: [] });
    const rule = { series: 'memory.used_percent', above: 0, for_seconds: 1 };
    here.reconfigure({ ...config, watch: { rules: { used: rule } } });
    const { data: event } = await client.take('event');
    t.match(event, { rule: 'used', state: 'begin', series: rule.series, value: Number, text: String });
    const { type, data } = await client.ask('history', { series: [rule.series], since: -60 }, 2);
    t.equal(type, 'history');
    t.match(data, { series: { [rule.series]: Object }, events: [event] });
    t.match(await client.ask('process_history', { at: event['at'] }, 3), { type: 'process_history' });
  });

  t.test('[7.error-parse] [7.error-op] [7.error-data] messages that are not valid', async (t) => {
    const client = await own.connect();
    client.sayText('{');
    t.match((await client.take('error')).data, { code: 'PARSE_ERROR' });
    client.sayBinary('{"op":"ping"}');
    t.match((await client.take('error')).data, { code: 'PARSE_ERROR' }, 'a binary frame');
    client.sayText('"\ud800"');
    t.match(
      (await client.take('error')).data,
      { code: 'PARSE_ERROR' },
      'half a character, which is replaced',
    );
    t.match((await client.ask('nope', {}, 'n')).data, {
      code: 'UNKNOWN_OP',
      details: { allowed: Object.keys(OPS) },
    });
    t.match((await client.ask('subscribe', { topics: 'stats' }, 's')).data, { code: 'INVALID_DATA' });
    t.match((await client.ask('process_kill', { pid: 2 ** 31 }, 'k')).data, { code: 'INVALID_DATA' });
    t.equal((await client.ask('ping', undefined, 'p')).type, 'pong', 'and it goes on');
    client.close();
  });

  t.test('[7.error-feature] [7.feature-topics] features that are off', async (t) => {
    const { client, media, here } = await startMedia(t, { enable_media: false });
    t.match((await client.ask('media', { action: 'play' }, 1)).data, { code: 'FEATURE_DISABLED' });
    t.match(await client.ask('process_kill', { pid: 1 }, 2), { data: { code: 'FEATURE_DISABLED' } });
    t.match((await client.ask('subscribe', { topics: ['media'] }, 3)).data, { topics: ['media'] });
    t.match((await client.take('error')).data, { code: 'FEATURE_DISABLED', details: { topic: 'media' } });
    here.reconfigure({ ...QUICK, features: { enable_media: true } });
    t.match((await client.take('media_update')).data, { title: 'one' }, 'until it is on');
    t.strictSame(media.controls, []);
  });

  t.test('[7.closing] [9.websockets-1001] at a shutdown: closing, then 1001', async (t) => {
    const { here, client } = await startMedia(t);
    await client.ask('subscribe', { topics: ['stats'] }, 1);
    await client.take('system_stats');
    await here.stop();
    t.equal((await client.closed).code, 1001);
    t.ok(client.wasClean);
    t.match(client.told.at(-1), { type: 'closing', data: { reason: String } }, 'it is the last message');
  });

  t.test('every event was tested, and the page had no complaints', async (t) => {
    const sockets = pages.flatMap((page) => page.sockets);
    const said = new Set(sockets.flatMap((socket) => [...socket.said]));
    for (const op of Object.keys(OPS)) t.ok(said.has(op), `op ${op}`);
    const types = new Set(sockets.flatMap((socket) => socket.told.map(({ type }) => type)));
    t.strictSame([...types].sort(), Object.keys(EVENTS).sort(), 'every event, and no other');
    await until(
      () => own.page.evaluate<number>('testSockets.filter((socket) => socket.readyState !== 3).length'),
      0,
    );
    t.strictSame(own.complaints, []);
    const messages = sockets.reduce((sum, socket) => sum + socket.told.length, 0);
    t.comment(`figure: Chromium ${browser.version()}: ${sockets.length} sockets, ${messages} messages`);
  });
}
