/** Commands to agents that the test plays: what is sent, how often, by when, and what clients are answered. */
import t from 'tap';
import { ask, jsonOf, RawConnection, requestBytes, valuesOf } from '../helpers/clients/http.ts';
import { until } from '../helpers/until.ts';
import { accepted, done, frameOf, PlayedMachine, refused, type Say } from './played-machine.ts';
import { isUp, startHub } from './setup.ts';

const ALL = { hub: { commands: { all: { commands: ['*'], labels: {} } } } };
const OK = done({ status: 'ok', message: 'Command initiated' });
/** Nothing but what the test does ends it. */
const PATIENT = { commandMs: 300_000, answerMs: 300_000, headMs: 60_000, quietMs: 600_000 };

async function open(
  t: Parameters<typeof startHub>[0],
  say: Say,
  times: Parameters<typeof startHub>[3] = PATIENT,
) {
  const agent = await PlayedMachine.start(t, 0, say);
  const hub = await startHub(t, { a: { url: agent.url } }, ALL, times);
  await hub.host('a', isUp);
  const lock = async () => await ask(hub.port, '/api/hosts/a/pw/lock', { method: 'POST' });
  return { agent, hub, lock, commands: () => agent.at('power.lock') };
}

t.test('[I.hub.once] a command is sent once, with who asked and its deadline', async (t) => {
  const { lock, commands } = await open(t, () => OK);
  const before = performance.now();
  const answer = await lock();
  t.strictSame(jsonOf(answer), { status: 'ok', message: 'Command initiated' });
  const [sent, ...more] = commands();
  t.equal(more.length, 0);
  t.match(sent, { client: '127.0.0.1', key: undefined });
  t.ok(Number(sent?.deadline) <= performance.now() + PATIENT.commandMs, 'never later than the hub waits');
  t.ok(Number(sent?.deadline) >= before, 'and not long ago');
});

t.test(
  '[I.hub.once] a connection that ends after the command was sent: unknown, and not sent again',
  async (t) => {
    const { lock, commands, hub } = await open(t, () => 'cut');
    const answer = await lock();
    t.equal(answer.status, 504);
    t.match(jsonOf(answer), { code: 'outcome_unknown', details: { reason: /./ } });
    await hub.host('a', isUp);
    t.equal(commands().length, 1);
  },
);

t.test('[I.hub.once] an agent that hangs: unknown when its time is up', async (t) => {
  const { lock, commands } = await open(t, () => undefined, {
    ...PATIENT,
    commandMs: 60_000,
    answerMs: -59_000,
  });
  const answer = await lock();
  t.match(jsonOf(answer), { code: 'outcome_unknown', details: { reason: 'no answer in time' } });
  t.equal(commands().length, 1);
});

t.test('[I.hub.late] a command that was too late at the machine was not done', async (t) => {
  const { lock, commands, agent } = await open(t, ({ id }) => {
    agent.send(frameOf('error', { code: 'LATE', message: 'Too late.' }, id));
    return undefined;
  });
  const answer = await lock();
  t.equal(answer.status, 503);
  t.match(jsonOf(answer), { code: 'host_unreachable' });
  t.equal(commands().length, 1);
});

t.test("[I.hub.outcomes] the agent's own errors are passed on", async (t) => {
  const cases: readonly (readonly [said: object, status: number, code: string])[] = [
    [refused('power_pending', { action: 'sleep' }), 409, 'power_pending'],
    [refused('not_supported', { reason: 'x' }), 501, 'not_supported'],
    [refused('too_many_requests'), 429, 'too_many_requests'],
    [refused('constructor'), 500, 'internal_error'],
  ];
  let next: object = {};
  const { lock, commands } = await open(t, () => next);
  for (const [said, status, code] of cases) {
    next = said;
    const answer = await lock();
    t.equal(answer.status, status, JSON.stringify(said));
    t.match(jsonOf(answer), { code });
  }
  t.equal(commands().length, cases.length);
});

t.test('[10.keys-agent] a hub passes on the scope that it lacks, and nothing else of the text', async (t) => {
  let scope: unknown = 'media';
  const { lock, agent, hub } = await open(t, () => refused('scope_required', { scope }));
  const shown = async () => {
    const answer = await lock();
    return [answer.status, valuesOf(answer, 'x-error-code'), valuesOf(answer, 'x-required-scope')];
  };
  t.strictSame(await shown(), [403, ['scope_required'], ['media']]);
  for (scope of ['x\r\nSet-Cookie: a=b', 'toString', 5, null, undefined])
    t.strictSame(await shown(), [403, ['scope_required'], []], JSON.stringify(scope));
  agent.scopes = ['read', 'x\n', 5, 'read'];
  agent.cut();
  const { scopes } = await hub.host('a', (row) => row.scopes !== undefined);
  t.strictSame(scopes, ['read'], 'the names that it knows');
});

t.test('[I.hub.hostile] a hung agent costs the others nothing', async (t) => {
  const hung = await PlayedMachine.start(t);
  const well = await PlayedMachine.start(t, 0, () => OK);
  const config = { ...ALL, server: { max_requests_per_address: 0 } };
  const hub = await startHub(t, { hung: { url: hung.url }, well: { url: well.url } }, config, PATIENT);
  await hub.host('hung', isUp);
  await hub.host('well', isUp);
  const waiting = Array.from({ length: 80 }, () => ask(hub.port, '/api/hosts/hung/pw'));
  await until(() => hung.at('power').length > 0);
  t.equal(hung.at('power').length, 1, 'those who ask the same share one question');
  const commands = Array.from({ length: 80 }, () =>
    ask(hub.port, '/api/hosts/hung/pw/lock', { method: 'POST' }),
  );
  const first = await Promise.race(commands);
  t.equal(first.status, 429, 'only so many wait');
  t.match(jsonOf(first), { error: 'Too many requests are pending for this machine.' });
  t.equal((await ask(hub.port, '/api/hosts/well/pw/lock', { method: 'POST' })).status, 200);
  t.equal(hung.connections, 1, 'one connection for all');
  await hub.stop();
  await Promise.allSettled([...waiting, ...commands]);
});

t.test('[I.hub.audit] the trail has what was accepted, and how that ended', async (t) => {
  const { lock, commands, agent, hub } = await open(t, () => accepted());
  const trail = () => hub.log.flatMap((line) => /power: lock (\w+)/.exec(line)?.[1] ?? []);
  t.equal((await lock()).status, 200);
  t.strictSame(trail(), ['accepted'], 'it is not done');
  const [sent] = commands();
  if (sent === undefined) throw new Error('it was sent');
  agent.step(sent, 'running', 'Running');
  agent.step(sent, 'cancelled', 'Cancelled');
  await until(() => trail().length > 1 || undefined);
  t.strictSame(trail(), ['accepted', 'cancelled']);
});

const STOP_MS = 3500;
const standStill = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STOP_MS);

t.test('[I.hub.standstill] a command that waited while the hub stood still is not done', async (t) => {
  const { lock, commands, hub } = await open(t, () => OK);
  const waiting = await RawConnection.openIn(t, hub.port);
  waiting.write(requestBytes('/api/hosts/a/pw/lock', { method: 'POST' }));
  // The hub is in this process: the bytes wait in the kernel, unread.
  standStill();
  const answer = await waiting.readAnswer('POST');
  t.equal(answer.status, 503);
  t.match(jsonOf(answer), { code: 'host_unreachable', details: { reason: 'the hub was suspended' } });
  t.equal(commands().length, 0, 'the agent was not asked');
  t.match(hub.log.join(''), /power: lock refused: host_unreachable/);
  await until(async () => (await lock()).status === 200, 'a moment later commands are taken again');
  t.equal(commands().length, 1);
});
