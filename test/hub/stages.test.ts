/** The stages of commands over the sockets of a hub: those of the machine's own socket, and what other subscribers get. */
import '../helpers/service/dead-buses.ts';
import t, { type Test } from 'tap';
import { ask } from '../helpers/clients/http.ts';
import { SocketClient } from '../helpers/clients/socket.ts';
import type { Told } from '../helpers/clients/talk.ts';
import { snapshotOf } from '../helpers/fakes/media.ts';
import { until } from '../helpers/until.ts';
import { startCommanded } from './commanded.ts';
import { isUp, PlayedMachine, startHub } from './setup.ts';
import { HubClient } from './socket-setup.ts';

const ANYBODY = { hub: { commands: { all: { commands: ['*'], labels: {} } } } };

interface Client {
  readonly told: readonly Told[];
  take(wanted: (told: Told) => boolean): Promise<Told>;
  settle(): Promise<readonly Told[]>;
}

/** A socket of the machine itself, or of the hub. */
interface Channel {
  readonly client: Client;
  readonly say: (op: string, data: object, id?: string) => void;
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

async function rig(t: Test) {
  const agent = await startCommanded(t);
  const hub = await startHub(t, { pc: { url: agent.service.baseUrl } }, ANYBODY);
  await hub.host('pc', isUp);
  const socket = await SocketClient.openIn(t, agent.service.port);
  const own: Channel = { client: socket, say: (op, data, id) => socket.say(op, data, id) };
  const through = async (): Promise<Channel> => {
    const client = await HubClient.open(t, hub);
    return { client, say: (op, data, id) => client.say(op, { host: 'pc', data }, id) };
  };
  return { agent, hub, own, through };
}

const COMMANDS = [
  ['media', { action: 'set_volume', value: 30 }],
  ['media', { action: 'seek', value: 5, player: 'nobody' }],
  ['process_launch', { app: 'app' }],
  ['process_launch', { app: 'another' }],
  ['process_kill', { pid: 2 ** 31 - 1 }],
  ['power', { action: 'lock' }],
  ['power', { action: 'cancel' }],
] as const;

t.test('[I.hub.stages] the sender gets what the machine itself says', async (t) => {
  const { own, through } = await rig(t);
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

t.test('[I.hub.ws-results] other subscribers get the end of each command, once', async (t) => {
  const { agent, hub, through } = await rig(t);
  const [sender, other, elsewhere] = [await through(), await through(), await through()];
  for (const { say } of [sender, other]) say('subscribe', { topics: ['media', 'power', 'processes'] }, 's');
  elsewhere.say('subscribe', { topics: ['stats.cpu'] }, 's');
  for (const { client } of [sender, other, elsewhere])
    await client.take(({ type, id }) => type === 'subscribed' && id === 's');
  const post = async (path: string, body: object = {}) =>
    await ask(hub.port, `/api/hosts/pc${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
  const heard = () => other.client.told.filter(isFeedback).map(shown);
  const expected: object[] = [];
  const told = async (feedback: object) => {
    expected.push(feedback);
    await until(() => heard().length === expected.length);
  };
  await courseOf(sender, 'media', { action: 'set_volume', value: 40 }, 'm');
  await told({ success: true, action: 'set_volume' });
  await post('/media/control', { action: 'mute' });
  await told({ success: true, action: 'mute' });
  await post('/media/control', { action: 'seek', value: 5, player: 'nobody' });
  await told({ success: false, action: 'seek', code: 'NOT_FOUND' });
  await courseOf(sender, 'process_launch', { app: 'app' });
  await told({ success: true, action: 'launch', name: 'app' });
  await courseOf(sender, 'power', { action: 'lock' }, 'p');
  await told({ success: true, action: 'lock', message: 'Done' });
  await post('/pw/lock');
  await told({ success: true, action: 'lock', message: 'Done' });
  t.equal((await post('/media/control', { action: 'set_volume' })).status, 400);
  agent.media.snapshot = snapshotOf();
  for (const { client } of [sender, other, elsewhere]) await client.settle();
  t.match(
    heard().map(([, data]) => data),
    expected.map((feedback) => ({ final: true, stage: undefined, ...feedback })),
    'what was not begun is reported to nobody',
  );
  t.equal(heard().length, expected.length);
  t.ok(other.client.told.filter(isFeedback).every(({ id }) => id === undefined));
  const ofOthers = sender.client.told.filter((each) => isFeedback(each) && each.id === undefined);
  t.same(
    ofOthers.map(({ data }) => data['action']),
    ['mute', 'seek', 'launch', 'lock'],
    'the sender has its own answers, and the ends of those of others',
  );
  t.same(elsewhere.client.told.filter(isFeedback), [], 'who does not follow the topic gets nothing');
});

t.test('[I.hub.stages] a running command is followed until it ends or is lost', async (t) => {
  const agent = await PlayedMachine.start(t, 0, () => ({
    body: { message: 'Command initiated' },
    follows: true,
  }));
  const hub = await startHub(t, { pc: { url: agent.url } }, ANYBODY);
  await hub.host('pc', isUp);
  const client = await HubClient.open(t, hub);
  const sleep = async (id: string) => {
    client.say('power', { host: 'pc', data: { action: 'sleep' } }, id);
    await client.take((told) => told.id === id && told.data['stage'] === 'accepted');
    const asked = agent.at('power.sleep').at(-1);
    if (asked === undefined) throw new Error('it was asked');
    return asked;
  };
  const stages = (id: string) =>
    client.told.filter((told) => told.id === id).map(({ data }) => data['stage']);
  const first = await sleep('last word');
  agent.say('closing', { reason: 'sleep' });
  await hub.host('pc', ({ state }) => state === 'asleep');
  agent.step(first, 'running', 'Handing over sleep');
  agent.step(first, 'done', 'Done');
  await client.take((told) => told.id === 'last word' && told.data['final'] === true);
  t.same(stages('last word'), ['accepted', 'running', 'done'], 'its last word comes after its farewell');
  agent.cut();
  await hub.host('pc', isUp);
  const second = await sleep('gone');
  agent.step(second, 'running', 'Handing over sleep');
  await client.take((told) => told.id === 'gone' && told.data['stage'] === 'running');
  agent.cut();
  const end = await client.take((told) => told.id === 'gone' && told.data['final'] === true);
  t.match(end.data, { success: false, code: 'OUTCOME_UNKNOWN', stage: 'failed', action: 'sleep' });
});
