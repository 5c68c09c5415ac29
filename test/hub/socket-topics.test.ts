/** Media, processes, power and commands over the hub's WebSockets, against a real service. */
import '../helpers/service/dead-buses.ts';
import t, { type Test } from 'tap';
import { SocketClient } from '../helpers/clients/socket.ts';
import { playerOf, snapshotOf } from '../helpers/fakes/media.ts';
import type { ConfigPart } from '../helpers/service/service.ts';
import { allFlags, startCommanded } from './commanded.ts';
import { isUp, startHub } from './setup.ts';
import { HubClient, type HubTold } from './socket-setup.ts';

const ANYBODY: ConfigPart = { hub: { commands: { all: { commands: ['*'], labels: {} } } } };

async function start(t: Test, config: ConfigPart = ANYBODY) {
  const agent = await startCommanded(t);
  const hub = await startHub(t, { pc: { url: agent.service.baseUrl } }, config);
  await hub.host('pc', isUp);
  const many = await HubClient.open(t, hub);
  const one = await HubClient.open(t, hub, '/api/hosts/pc/ws');
  /** Both forms of a message, and the answers to them: one with the machine, one without. */
  const ask = async (op: string, data: object): Promise<readonly [HubTold, HubTold]> =>
    await Promise.all([many.ask(op, { host: 'pc', data }), one.ask(op, { data })]);
  /** The last feedback to a command, or the error, in both forms. */
  const finish = async (op: string, data: object): Promise<readonly HubTold[]> =>
    await Promise.all(
      (await ask(op, data)).map(async (told, at) =>
        told.data['final'] === false
          ? await (at === 0 ? many : one).take(({ id, data: { final } }) => id === told.id && final === true)
          : told,
      ),
    );
  return { agent, hub, many, one, ask, finish };
}

t.test('[I.hub.ws-topics] snapshots, then what changes', async (t) => {
  const { agent, many, one } = await start(t);
  for (const [client, frame] of [
    [many, { host: 'pc' }],
    [one, {}],
  ] as const) {
    client.say('subscribe', { ...frame, data: { topics: ['media', 'power', 'processes'] } }, 'all');
    for (const type of ['media_update', 'power_update', 'process_list']) {
      const told = await client.take((each) => each.type === type);
      t.equal(told.id, 'all');
      t.equal(told.host, client === many ? 'pc' : undefined);
    }
  }
  agent.media.change(snapshotOf(playerOf('mpv', { playback: 'playing', title: 'another one' })));
  for (const client of [many, one]) {
    const told = await client.take(
      ({ type, data }) => type === 'media_update' && data['title'] === 'another one',
    );
    t.notOk('id' in told);
  }
});

t.test('[I.hub.ws-topics] a topic that is switched off at the machine', async (t) => {
  const { agent, ask, many } = await start(t);
  agent.configure(allFlags(false));
  for (const told of await ask('get', { topics: ['media'] }))
    t.match(told, { type: 'error', data: { code: 'FEATURE_DISABLED', details: { topic: 'media' } } });
  for (const told of await ask('process_list', {}))
    t.match(told, { type: 'error', data: { code: 'FEATURE_DISABLED' } });
  many.say('subscribe', { host: 'pc', data: { topics: ['media'] } }, 'off');
  t.match(await many.take('error'), { id: 'off', host: 'pc', data: { code: 'FEATURE_DISABLED' } });
  agent.configure(allFlags(true));
  await many.take('media_update');
  t.pass('it is sent once it is switched on');
});

t.test('[I.hub.ws-topics] questions are answered as by the machine itself', async (t) => {
  for (const history of [{ minutes: 0 }, { minutes: 10 }]) {
    const { agent, ask } = await start(t);
    agent.configure(allFlags(true), { history });
    const own = await SocketClient.openIn(t, agent.service.port);
    const shapeOf = ({ type, data }: HubTold) => [
      type,
      Object.keys(data).sort(),
      data['code'],
      data['action'],
    ];
    for (const [op, data] of [
      ['get', { topics: ['stats.cpu'] }],
      ['get', { topics: ['media'], detail: true }],
      ['get', { topics: ['power'] }],
      ['get', { topics: ['processes'] }],
      ['process_list', { limit: 3 }],
      ['process_list', { query: 'ä &?#', grouped: false, sort: 'name' }],
      ['process_details', { pid: 1 }],
      ['process_details', { pid: 2 ** 31 - 1 }],
      ['process_details', { name: 'no such/../process' }],
      ['history', { since: -60 }],
      ['history', { series: ['cpu.load'], since: -60, step: 10 }],
      ['history', { series: ['a,b', 'disk.*'], since: -60 }],
      ['history', { series: ['*'], since: -1e9, step: 1 }],
      ['process_history', { at: -30 }],
    ] as const) {
      const wanted = shapeOf(await own.ask(op, data, JSON.stringify([op, data]).slice(0, 100)));
      const name = JSON.stringify([op, data, history]);
      for (const told of await ask(op, data)) t.strictSame(shapeOf(told), wanted, name);
    }
  }
});

t.test('[I.hub.ws-commands] a command is carried out once, and has feedback to its end', async (t) => {
  const { agent, many, one, finish } = await start(t);
  for (const [op, data, acts] of [
    ['media', { action: 'set_volume', value: 30 }, 2],
    ['process_launch', { app: 'app' }, 2],
  ] as const) {
    agent.acts();
    for (const told of await finish(op, data))
      t.match(told.data, { success: true, final: true, stage: 'done' }, told.text);
    t.equal(agent.acts().length, acts, `${op}: once per message`);
  }
  for (const told of await finish('process_launch', { app: 'another' }))
    t.match(told, { type: 'process_feedback', data: { success: false, final: true, stage: 'failed' } });
  for (const told of await finish('power', { action: 'cancel' }))
    t.equal(told.type, 'power_feedback', told.text);
  agent.configure(allFlags(false));
  for (const told of await finish('media', { action: 'play' }))
    t.match(told, { type: 'error', data: { code: 'FEATURE_DISABLED' } });
  t.strictSame(agent.acts(), []);
  const ends = [...many.told, ...one.told].filter(({ data: { final } }) => final === true);
  t.equal(new Set(ends.map(({ id, host }) => `${host} ${id}`)).size, ends.length, 'one end per message');
});

t.test('[I.hub.ws-results] other subscribers of a topic get the end of its commands', async (t) => {
  const { many, one } = await start(t);
  one.say('subscribe', { data: { topics: ['media', 'power'] } }, 's');
  await one.take('power_update');
  for (const [op, data] of [
    ['power', { action: 'lock' }],
    ['media', { action: 'set_volume', value: 20 }],
    ['media', { action: 'seek', value: 1, player: 'nobody' }],
    ['power', { action: 'cancel' }],
  ] as const)
    await many.ask(op, { host: 'pc', data });
  await one.take(({ data }) => data['action'] === 'cancel');
  const feedback = one.told.filter(({ type }) => type.endsWith('_feedback'));
  // The end of a power action comes 100 ms after its acceptance: before or after the others, and perhaps not yet.
  const [locked, heard] = [true, false].map((isLock) =>
    feedback.filter(({ data }) => (data['action'] === 'lock') === isLock),
  ) as [typeof feedback, typeof feedback];
  t.ok(locked.length <= 1 && locked.every(({ data }) => data['final'] === true));
  t.match(
    heard.map(({ data }) => data),
    [
      { action: 'set_volume', success: true, final: true, stage: undefined },
      { action: 'seek', success: false, final: true, code: 'NOT_FOUND' },
      { action: 'cancel', success: true, final: true },
    ],
    'and not that one is accepted',
  );
  t.equal(heard.length, 3);
  t.ok(feedback.every(({ id }) => id === undefined));
});

t.test('[I.hub.ws-commands] hub.commands is judged before anything is sent', async (t) => {
  const { agent, ask, hub } = await start(t, {
    hub: { commands: { media: { commands: ['media.pause'], labels: {} } } },
  });
  agent.acts();
  for (const [op, data] of [
    ['media', { action: 'play' }],
    ['power', { action: 'sleep' }],
    ['process_kill', { pid: 4242 }],
    ['process_launch', { app: 'app' }],
    ['wake', { host: 'nas' }],
  ] as const)
    for (const told of await ask(op, data)) t.match(told, { type: 'error', data: { code: 'FORBIDDEN' } }, op);
  t.strictSame(agent.acts(), [], 'nothing was done');
  t.strictSame(agent.audit(), [], 'nothing was sent');
  for (const told of await ask('media', { action: 'pause' }))
    t.match(told.data, { success: true }, told.text);
  hub.reconfigure({ pc: { url: agent.service.baseUrl } }, {});
  for (const told of await ask('media', { action: 'pause' }))
    t.match(told, { type: 'error', data: { code: 'FORBIDDEN' } }, 'after a reload');
});

t.test('[I.hub.ws-commands] a machine that is gone', async (t) => {
  const { agent, ask, hub } = await start(t);
  await agent.service.stop();
  await hub.host('pc', ({ state }) => state === 'down');
  for (const told of await ask('media', { action: 'play' }))
    t.match(told, { type: 'error', data: { code: 'HOST_UNREACHABLE' } });
});
