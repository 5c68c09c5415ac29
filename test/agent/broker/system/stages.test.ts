/** The stages of commands over the sockets of a hub: those of the machine's own socket, and what other subscribers get. */
import t, { type Test } from 'tap';
import type { Broker } from '../../../exporters/mqtt/broker.ts';
import { ask } from '../../../helpers/clients/http.ts';
import { SocketClient } from '../../../helpers/clients/socket.ts';
import type { Told } from '../../../helpers/clients/talk.ts';
import { snapshotOf } from '../../../helpers/fakes/media.ts';
import { until } from '../../../helpers/until.ts';
import { startCommanded } from '../../../hub/commanded.ts';
import { isUp, type StartedHub } from '../../../hub/setup.ts';
import { HubClient } from '../../../hub/socket-setup.ts';
import { hubPart, testBrokers, testMosquitto } from '../../reporter/rig.ts';
import { EVERYTHING, PlayedAgent, startBrokerHub } from '../setup.ts';

t.setTimeout(280_000);

type Say = (op: string, data: object, id?: string) => void;

interface Client {
  readonly told: readonly Told[];
  take(wanted: (told: Told) => boolean): Promise<Told>;
  settle(): Promise<readonly Told[]>;
}

/** A socket of the machine itself, or of the hub. */
interface Channel {
  readonly client: Client;
  readonly say: Say;
}

const isFeedback = ({ type }: Told) => type.endsWith('_feedback');

const shown = ({ type, data }: Told) => [type, data];

/** Everything that is said about a command, to its end. */
async function courseOf({ client, say }: Channel, op: string, data: object, id?: string) {
  const from = client.told.length;
  say(op, data, id);
  const since = () => client.told.slice(from).filter((told) => isFeedback(told) && told.id === id);
  await client.take(
    (told) => told.id === id && isFeedback(told) && since().includes(told) && told.data['final'] === true,
  );
  return since().map(shown);
}

async function rig(t: Test, broker: Broker) {
  const agent = await startCommanded(t, { host: { id: 'pc' }, mqtt: hubPart(broker) });
  const hub = await startBrokerHub(t, broker.url, EVERYTHING);
  await hub.host('pc', isUp);
  const socket = await SocketClient.openIn(t, agent.service.port);
  const own: Channel = { client: socket, say: (op, data, id) => socket.say(op, data, id) };
  return { agent, hub, own, through: async () => channelOf(await HubClient.open(t, hub)) };
}

const channelOf = (client: HubClient): Channel => ({
  client,
  say: (op, data, id) => client.say(op, { host: 'pc', data }, id),
});

const post = async (hub: StartedHub, path: string, body: object = {}) =>
  await ask(hub.port, `/api/hosts/pc${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });

const COMMANDS = [
  ['media', { action: 'set_volume', value: 30 }],
  ['media', { action: 'seek', value: 5, player: 'nobody' }],
  ['process_launch', { app: 'app' }],
  ['process_launch', { app: 'another' }],
  ['process_kill', { pid: 2 ** 31 - 1 }],
  ['power', { action: 'lock' }],
  ['power', { action: 'cancel' }],
] as const;

testBrokers(t, '[I.hub.mqtt.stages] the sender gets what the machine itself says', async (t, broker) => {
  const { own, through } = await rig(t, broker);
  const channel = await through();
  for (const [op, data] of COMMANDS)
    for (const id of ['numbered', undefined]) {
      const wanted = await courseOf(own, op, data, id);
      const found = await courseOf(channel, op, data, id);
      t.strictSame(found, wanted, `${op} ${JSON.stringify(data)} ${id}`);
    }
  channel.say('power', { action: 'shutdown', delay: 600 }, 'later');
  await channel.client.take(({ id, data }) => id === 'later' && data['stage'] === 'accepted');
  const cancelled = await courseOf(channel, 'power', { action: 'cancel' }, 'cancel');
  await channel.client.take(({ id, data }) => id === 'later' && data['final'] === true);
  const scheduled = channel.client.told.filter(({ id }) => id === 'later').map(shown);
  t.match(scheduled, [
    ['power_feedback', { stage: 'accepted', final: false }],
    ['power_feedback', { stage: 'cancelled', final: true, success: false, code: 'CONFLICT' }],
  ]);
  t.match(cancelled, [['power_feedback', { success: true, final: true, stage: 'done' }]]);
  const settled = await channel.client.settle();
  t.same(
    settled.filter(({ id }) => id === 'later'),
    [],
    'nothing follows the end',
  );
});

testBrokers(
  t,
  '[I.hub.mqtt.results] other subscribers get the end of each command, once',
  async (t, broker) => {
    const { agent, hub, through } = await rig(t, broker);
    const [sender, other, elsewhere] = [await through(), await through(), await through()];
    for (const { say } of [sender, other]) say('subscribe', { topics: ['media', 'power', 'processes'] }, 's');
    elsewhere.say('subscribe', { topics: ['stats.cpu'] }, 's');
    for (const { client } of [sender, other, elsewhere])
      await client.take(({ type, id }) => type === 'subscribed' && id === 's');
    const heard = () => other.client.told.filter(isFeedback).map(shown);
    let count = 0;
    const told = async (type: string, feedback: object, what: string) => {
      await until(() => heard().length > count);
      t.match(heard().slice(count), [[type, { final: true, stage: undefined, ...feedback }]], what);
      count = heard().length;
    };
    await courseOf(sender, 'media', { action: 'set_volume', value: 40 }, 'm');
    await told('media_feedback', { success: true, action: 'set_volume' }, 'over a socket');
    await post(hub, '/media/control', { action: 'mute' });
    await told('media_feedback', { success: true, action: 'mute' }, 'over HTTP');
    await post(hub, '/media/control', { action: 'seek', value: 5, player: 'nobody' });
    await told('media_feedback', { success: false, action: 'seek', code: 'NOT_FOUND' }, 'a failure');
    await courseOf(sender, 'process_launch', { app: 'app' });
    await told('process_feedback', { success: true, action: 'launch', name: 'app' }, 'a process');
    await courseOf(sender, 'power', { action: 'lock' }, 'p');
    await told('power_feedback', { success: true, action: 'lock', message: 'Done' }, 'not its acceptance');
    await post(hub, '/pw/lock');
    await told('power_feedback', { success: true, action: 'lock', message: 'Done' }, 'also over HTTP');
    t.equal((await post(hub, '/media/control', { action: 'set_volume' })).status, 400);
    agent.media.snapshot = snapshotOf();
    for (const { client } of [sender, other, elsewhere]) await client.settle();
    t.equal(heard().length, count, 'what was not begun is reported to nobody');
    t.ok(other.client.told.filter(isFeedback).every(({ id }) => id === undefined));
    const ownOnes = sender.client.told.filter((each) => isFeedback(each) && each.id === undefined);
    t.same(
      ownOnes.map(({ data }) => [data['action'], data['message']]),
      [
        ['mute', ownOnes[0]?.data['message']],
        ['seek', ownOnes[1]?.data['message']],
        ['launch', ownOnes[2]?.data['message']],
        ['lock', 'Done'],
      ],
      'the sender has its own answer, and the end of those of others',
    );
    t.same(elsewhere.client.told.filter(isFeedback), [], 'who does not follow the topic gets nothing');
  },
);

testMosquitto(
  t,
  '[I.hub.mqtt.stages] a running command is followed until it ends or is lost',
  async (t, broker) => {
    const agent = await PlayedAgent.start(t, broker.url, 'pc');
    const hub = await startBrokerHub(t, broker.url, EVERYTHING);
    await hub.host('pc', isUp);
    const client = await HubClient.open(t, hub);
    const sleep = async (id: string) => {
      const before = agent.asked.length;
      client.say('power', { host: 'pc', data: { action: 'sleep' } }, id);
      const found = await until(() =>
        agent.asked.slice(before).find(({ topic }) => topic.endsWith('/power/sleep')),
      );
      await agent.answer(found.id, { stage: 'accepted', message: 'Command initiated', result: {} });
      await client.take((told) => told.id === id && told.data['stage'] === 'accepted');
      return found.id;
    };
    const stages = (id: string) =>
      client.told.filter((told) => told.id === id).map(({ data }) => data['stage']);
    const first = await sleep('last word');
    await agent.say('status', { state: 'offline', run: agent.run }, true);
    await hub.host('pc', ({ state }) => state === 'down');
    await agent.answer(first, { stage: 'running', message: 'Handing over sleep' });
    await agent.answer(first, { stage: 'done' });
    await client.take((told) => told.id === 'last word' && told.data['final'] === true);
    t.same(stages('last word'), ['accepted', 'running', 'done'], 'its last word comes after its farewell');
    await agent.say('status', { state: 'online', run: agent.run }, true);
    await hub.host('pc', isUp);
    const second = await sleep('gone');
    await agent.answer(second, { stage: 'running', message: 'Handing over sleep' });
    await client.take((told) => told.id === 'gone' && told.data['stage'] === 'running');
    agent.cut();
    const end = await client.take((told) => told.id === 'gone' && told.data['final'] === true);
    t.match(end.data, { success: false, code: 'OUTCOME_UNKNOWN', stage: 'failed', action: 'sleep' });
    t.match(end.data['message'], /its agent went offline/);
  },
);
