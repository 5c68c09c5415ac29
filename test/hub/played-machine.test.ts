/** The machine that tests play says what docs/websocket.md says: hubs are tested against it. */
import t from 'tap';
import { flawOf } from '../helpers/clients/message-flaw.ts';
import { SocketClient } from '../helpers/clients/socket.ts';
import { until } from '../helpers/until.ts';
import { accepted, done, PlayedMachine, RUN, refused } from './played-machine.ts';

t.test('each message of a played machine has the shape of a service', async (t) => {
  const answers: Readonly<Record<string, object>> = {
    'power.sleep': accepted(),
    art: { type: 'image/png', base64: '' },
    media: refused('player_not_found', { player: 'x' }),
  };
  const machine = await PlayedMachine.start(t, 0, ({ name }) => answers[name] ?? done({ name }));
  machine.scopes = ['read'];
  machine.states.set('media', { status: 'stopped', title: '', artist: '' });
  const client = await SocketClient.openIn(t, machine.port);
  const { data } = await client.take('connected');
  t.match(data, { protocol: 2, run: RUN, machine: { id: 'played' }, scopes: ['read'] });
  t.match(await client.ask('ping', undefined, 1), { type: 'pong', data: { clock: Number } });
  t.match(await client.ask('subscribe', { topics: ['stats.disks', 'cpu', 'media'] }, 's'), {
    data: { topics: ['stats.disks', 'cpu', 'media'], unknown: [] },
  });
  t.match(await client.take('media_update'), { id: 's' });
  machine.sample({ timestamp: 1, uptime: 2 });
  t.match(await client.take('system_stats'), { id: 's', data: { timestamp: 1, disks: [] } });
  machine.sample({ timestamp: 2, uptime: 3 });
  t.equal((await client.take('system_stats')).id, undefined);
  client.say('subscribe', { topics: ['stats'], mode: 'add', detail: 'media' });
  client.say('subscribe', { topics: ['stats'], detail: true });
  await until(() => machine.queries.length === 3);
  t.strictSame(machine.queries, [
    'cpu,disks',
    'cpu,memory,gpu,disks,network',
    'cpu,memory,gpu,disks,network detail',
  ]);
  await client.ask('unsubscribe', undefined, 'u');
  t.equal(machine.streams, 0);
  for (const [name, answer] of Object.entries({ ...answers, usage: { body: { name: 'usage' } } }))
    t.strictSame((await client.ask('request', { name }, name)).data, JSON.parse(JSON.stringify(answer)));
  const [asked] = machine.at('power.sleep');
  if (asked !== undefined) machine.step(asked, 'done', 'Done');
  t.match(await client.take('step'), { id: 'power.sleep', data: { stage: 'done' } });
  const via = { client: '::1', key: 'phone' };
  client.sayText(JSON.stringify({ op: 'request', id: 9, deadline: 5, via, data: { name: 'processes' } }));
  await client.take(({ id }) => id === 9);
  t.match(machine.at('processes'), [{ client: '::1', key: 'phone', deadline: 5, params: {}, steps: false }]);
  machine.say('closing', { reason: 'sleep' });
  await client.take('closing');
  for (const told of client.told) if (told.type !== 'system_stats') t.equal(flawOf(told), undefined);
});
