/** The requests to one agent: kept connections, what is sent again and what is not, limits and deadlines. */
import t from 'tap';
import { systemClock } from '#src/clock.js';
import { Clients } from '#src/fairness/fair-queue.js';
import { type Call, Calls, FULL } from '#src/hub/pull/calls.js';
import { isLost, type Lost, type WholeAnswer } from '#src/hub/pull/connection.js';
import { targetOf } from '#src/hub/pull/target.js';
import { PATIENCE_MS } from '../helpers/limits.ts';
import { until } from '../helpers/until.ts';
import { AnsweringAgent, reply, type Say } from './answering-agent.ts';

const clock = systemClock(() => performance.now());
const LONG_MS = 10 * PATIENCE_MS;

async function open(t: Parameters<typeof AnsweringAgent.start>[0], say: Say) {
  const agent = await AnsweringAgent.start(t, say);
  let idleEnds = 0;
  const calls = new Calls(clock, targetOf({ url: agent.url }), () => idleEnds++);
  t.teardown(() => calls.close());
  return { agent, calls, idleEnds: () => idleEnds };
}

const from = (address: string) => ({ address, isKeyed: false });

const callOf = (path: string, more: Partial<Call> = {}): Call => {
  const untilMs = clock.now() + LONG_MS;
  const kind = { isRepeatable: true, isUrgent: false, who: from('192.0.2.1') };
  return { method: 'GET', path, ...kind, deadlineMs: untilMs, untilMs, ...more };
};
const command = (path: string, more: Partial<Call> = {}) =>
  callOf(path, { method: 'POST', isRepeatable: false, isUrgent: true, ...more });

const textOf = (found: WholeAnswer | Lost) => (isLost(found) ? found.reason : found.bytes.toString());
const echo: Say = ({ path }) => reply(200, JSON.stringify(path));

t.test(
  '[I.hub.kept] requests one after another share a connection; reads have three, an address four for commands',
  async (t) => {
    const held: (() => void)[] = [];
    const { agent, calls } = await open(t, async ({ path }) => {
      if (path.startsWith('/held')) await new Promise<void>((resolve) => held.push(resolve));
      return reply(200, JSON.stringify(path));
    });
    for (let i = 0; i < 20; i++) t.equal(textOf(await calls.call(callOf(`/a/${i}`))), `"/a/${i}"`);
    t.equal(agent.connections, 1);
    const reads = Array.from({ length: 6 }, (_, i) => calls.call(callOf(`/held/${i}`)));
    await until(() => (held.length === 3 ? true : undefined));
    const commands = Array.from({ length: 5 }, (_, i) => calls.call(command(`/held/command/${i}`)));
    await until(() => (held.length === 7 ? true : undefined));
    t.strictSame(
      agent
        .at('/held')
        .map(({ path }) => path)
        .toSorted(),
      [...[0, 1, 2].map((i) => `/held/${i}`), ...[0, 1, 2, 3].map((i) => `/held/command/${i}`)],
      'three reads, and four commands',
    );
    const other = calls.call(command('/held/command/other', { who: from('192.0.2.2') }));
    await until(() => (held.length === 8 ? true : undefined));
    t.ok(agent.at('/held/command/other').length === 1, 'the commands of one address do not hold up another');
    const free = setInterval(() => held.shift()?.(), 5);
    t.teardown(() => clearInterval(free));
    t.equal(textOf(await other), '"/held/command/other"');
    t.strictSame((await Promise.all([...reads, ...commands])).map(textOf), [
      ...reads.map((_, i) => `"/held/${i}"`),
      ...commands.map((_, i) => `"/held/command/${i}"`),
    ]);
    const paths = agent.at('/held').map(({ path }) => path);
    t.ok(paths.length === 12, 'all of them');
    await until(() => (agent.open === 1 ? true : undefined));
    t.pass('one connection is kept');
  },
);

t.test('[I.hub.once] a read is repeated where a kept connection was closed, a command never', async (t) => {
  let isCutting = false;
  const { agent, calls } = await open(t, (seen) => {
    if (!isCutting) return echo(seen);
    isCutting = false;
    return 'cut';
  });
  await calls.call(callOf('/first'));
  isCutting = true;
  t.equal(textOf(await calls.call(callOf('/read'))), '"/read"');
  t.equal(agent.at('/read').length, 2, 'on the kept connection, then on a new one');
  isCutting = true;
  const lost = await calls.call(command('/command'));
  t.match(lost, { isSent: true, isAnswered: false });
  t.equal(agent.at('/command').length, 1);
  isCutting = true;
  t.match(
    await calls.call(callOf('/new')),
    { isSent: true },
    'a read on a new connection is not repeated either',
  );
  t.equal(agent.at('/new').length, 1);
});

t.test('[I.hub.once] what is known to be not sent, and what is not known', async (t) => {
  const { calls, agent } = await open(t, ({ path }) =>
    path === '/half' ? 'HTTP/1.1 200 OK\r\nContent-Le' : undefined,
  );
  t.match(await calls.call(command('/late', { deadlineMs: clock.now() - 1 })), { isSent: false });
  t.equal(agent.at('/late').length, 0);
  let fire = () => {};
  const setTimer = (act: () => void) => {
    fire = act;
  };
  const timed = new Calls({ ...clock, setTimer }, targetOf({ url: agent.url }), () => undefined);
  const silent = timed.call(command('/silent'));
  await until(() => (agent.at('/silent').length === 1 ? true : undefined));
  fire();
  t.match(await silent, { isSent: true, isAnswered: false }, 'its time is up');
  const half = calls.call(command('/half', { untilMs: clock.now() + LONG_MS }));
  await until(() => (agent.at('/half').length === 1 ? true : undefined));
  agent.end();
  t.match(await half, { isSent: true, isAnswered: true });
  const nobody = new Calls(clock, targetOf({ url: 'http://127.0.0.1:1' }), () => undefined);
  t.match(await nobody.call(command('/x')), { isSent: false, reason: 'nothing listens there' });
  // Too late only once it is connected.
  const asked = command('/x', { headers: () => undefined });
  t.match(await calls.call(asked), { isSent: false });
  t.equal(agent.at('/x').length, 0);
});

t.test('[I.hub.hostile] what waits for a hung agent is limited and ends', async (t) => {
  const { calls, agent } = await open(t, () => new Promise(() => undefined));
  const untilMs = clock.now() + LONG_MS;
  const asked = Array.from({ length: 3 + 64 }, (_, i) => calls.call(callOf(`/hung/${i}`, { untilMs })));
  t.equal(await calls.call(callOf('/one-more')), FULL);
  t.equal(textOf(await calls.call(callOf('/gone', { deadlineMs: clock.now() }))), FULL.reason);
  await until(() => (agent.connections === 3 ? true : undefined));
  // Another client, and commands, take no notice of them.
  const other = calls.call(callOf('/hung/other', { untilMs, who: from('192.0.2.2') }));
  t.equal(await asked.at(-1), FULL, 'the newest of the client with most has made room');
  void calls.call(command('/hung/command', { untilMs }));
  await until(() => (agent.at('/hung/command').length === 1 ? true : undefined));
  calls.close();
  t.ok(isLost(await other));
  t.ok((await Promise.all(asked)).every(isLost), 'closing ends all of them');
  t.match(await calls.call(callOf('/later')), { isSent: false });
});

t.test('[I.hub.hostile] answers that are no answers end the connection', async (t) => {
  const cases: readonly (readonly [name: string, said: string])[] = [
    ['two answers', `${reply(200, '1')}${reply(200, '2')}`],
    ['a long one', `HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\n${'x'.repeat(5_000_000)}`],
    ['no HTTP', 'hello\r\n\r\n'],
    ['another version', 'HTTP/1.0 200 OK\r\n\r\n'],
  ];
  for (const [name, said] of cases) {
    const { calls, agent } = await open(t, () => said);
    t.ok(isLost(await calls.call(callOf('/x'))), name);
    await until(() => (agent.open === 0 ? true : undefined));
  }
  const { calls, agent } = await open(t, () => reply(200, '1', { Connection: 'close' }));
  t.equal(textOf(await calls.call(callOf('/x'))), '1');
  t.equal(textOf(await calls.call(callOf('/x'))), '1');
  t.equal(agent.connections, 2, 'one that is to be closed is not kept');
});

t.test(
  '[I.hub.kept] a command takes a new connection where the kept one has been silent for 3 s',
  async (t) => {
    const agent = await AnsweringAgent.start(t, echo);
    let aheadMs = 0;
    const now = () => performance.now() + aheadMs;
    const calls = new Calls({ ...clock, now }, targetOf({ url: agent.url }), () => undefined);
    t.teardown(() => calls.close());
    const asked = (path: string, isRepeatable: boolean) =>
      calls.call({ ...callOf(path), isRepeatable, deadlineMs: now() + LONG_MS, untilMs: now() + LONG_MS });
    await asked('/a', true);
    t.ok(calls.isFresh);
    await asked('/b', false);
    t.equal(agent.connections, 1);
    aheadMs = 4000;
    t.notOk(calls.isFresh);
    await asked('/c', true);
    t.equal(agent.connections, 1, 'a read takes it: it can be repeated');
    aheadMs = 8000;
    await asked('/d', false);
    t.equal(agent.connections, 2);
  },
);

t.test('[I.hub.hostile] reads are sent in turns by client, also those that several wait for', async (t) => {
  const held: (() => void)[] = [];
  const { agent, calls } = await open(t, async ({ path }) => {
    await new Promise<void>((resolve) => held.push(resolve));
    return reply(200, JSON.stringify(path));
  });
  const shared = new Clients('192.0.2.1');
  const many = Array.from({ length: 40 }, (_, i) =>
    calls.call(callOf(`/many/${i}`, i === 39 ? { clients: shared } : {})),
  );
  await until(() => (held.length === 3 ? true : undefined));
  const one = calls.call(callOf('/one', { who: from('192.0.2.2') }));
  shared.join('192.0.2.3');
  const free = setInterval(() => held.shift()?.(), 1);
  t.teardown(() => clearInterval(free));
  await Promise.all([one, ...many]);
  const paths = agent.at('/').map(({ path }) => path);
  t.ok(paths.indexOf('/one') < 6, `${paths.indexOf('/one')} before it`);
  t.ok(paths.indexOf('/many/39') < 6, 'it is due when one of those who wait for it is');
});
