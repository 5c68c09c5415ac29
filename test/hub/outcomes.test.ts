/** Commands to agents that the test plays: what is sent, how often, by when, and what clients are answered. */
import t from 'tap';
import { ask, jsonOf } from '../helpers/clients/http.ts';
import { until } from '../helpers/until.ts';
import { AnsweringAgent, RUN, reply, type Say, there } from './answering-agent.ts';
import { isDown, isUp, startHub } from './setup.ts';

const ALL = { hub: { commands: { all: { commands: ['*'], labels: {} } } } };
const OK = reply(200, '{"status":"ok","message":"Command initiated"}');
/** Nothing but what the test does ends it. */
const PATIENT = { commandMs: 300_000, answerMs: 300_000, headMs: 60_000, presenceMs: 600_000 };

async function open(
  t: Parameters<typeof startHub>[0],
  say: Say,
  times: Parameters<typeof startHub>[3] = PATIENT,
) {
  const agent = await AnsweringAgent.start(t, say);
  const hub = await startHub(t, { a: { url: agent.url } }, ALL, times);
  await hub.host('a', isUp);
  const lock = async () => await ask(hub.port, '/api/hosts/a/pw/lock', { method: 'POST' });
  const commands = () => agent.at('/api/pw/');
  return { agent, hub, lock, commands };
}

t.test('[I.hub.once] a command is sent once, with who asked and its deadline', async (t) => {
  const { lock, commands, agent } = await open(t, ({ path }) =>
    path.startsWith('/api/pw') ? OK : undefined,
  );
  const before = performance.now();
  const answer = await lock();
  t.strictSame(jsonOf(answer), { status: 'ok', message: 'Command initiated' });
  const [sent, ...more] = commands();
  t.equal(more.length, 0);
  t.match(sent, { method: 'POST', path: '/api/pw/lock' });
  const [, run, deadline] =
    /^testhub; client=127\.0\.0\.1; run=(\w+); deadline=(\d+)$/.exec(
      sent?.headers.get('x-hostwire-hub') ?? '',
    ) ?? [];
  t.equal(run, RUN);
  t.ok(Number(deadline) <= performance.now() + PATIENT.commandMs, 'never later than the hub waits');
  t.ok(Number(deadline) >= before, 'and not long ago');
  t.ok(
    agent.seen.some(({ method }) => method === 'HEAD'),
    'the clock was asked for before',
  );
});

t.test(
  '[I.hub.once] a connection that ends after the command was sent: unknown, and not sent again',
  async (t) => {
    for (const said of [
      'cut',
      'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{',
      'no answer\r\n\r\n',
    ] as const) {
      let isEnding = false;
      const { lock, commands, agent } = await open(t, ({ path }) => {
        if (!path.startsWith('/api/pw')) return undefined;
        isEnding = true;
        return said;
      });
      const asked = lock();
      await until(() => (isEnding ? true : undefined));
      if (said.startsWith('HTTP')) agent.end();
      const answer = await asked;
      t.equal(answer.status, 504, said);
      t.match(jsonOf(answer), { code: 'outcome_unknown', details: { reason: /./ } });
      t.equal(commands().length, 1);
    }
  },
);

t.test('[I.hub.once] an agent that hangs: unknown when its time is up', async (t) => {
  const { lock, commands } = await open(
    t,
    ({ path }) => (path.startsWith('/api/pw') ? new Promise(() => undefined) : undefined),
    { ...PATIENT, commandMs: 60_000, answerMs: -50_000 },
  );
  const answer = await lock();
  t.match(jsonOf(answer), { code: 'outcome_unknown', details: { reason: 'it does not answer' } });
  await until(() => (commands().length === 1 ? true : undefined));
});

t.test(
  '[I.hub.late] nothing is sent where the agent has not sent its clock, or its check fails',
  async (t) => {
    for (const [check, reason] of [
      [
        'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n',
        'its version takes no commands from hubs',
      ],
      [reply(401, ''), 'it refuses the key, or needs one (401)'],
      [reply(503, ''), 'it answers with 503'],
    ] as const) {
      const { lock, commands } = await open(t, ({ method }) => (method === 'HEAD' ? check : undefined));
      const answer = await lock();
      t.equal(answer.status, 503, reason);
      t.match(jsonOf(answer), { code: 'host_unreachable', details: { reason } });
      t.equal(commands().length, 0);
    }
  },
);

t.test('[I.hub.late] after its deadline a command is not sent any more', async (t) => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { lock, commands } = await open(
    t,
    async ({ method }) => {
      if (method === 'HEAD') await held;
      return method === 'HEAD' ? there() : undefined;
    },
    { ...PATIENT, commandMs: 100 },
  );
  const answer = await lock();
  t.equal(answer.status, 503, 'the agent did not even send its clock in time');
  release();
  t.equal(commands().length, 0);
});

t.test("[I.hub.outcomes] the agent's own errors are passed on, a proxy's are not", async (t) => {
  const error = (code: string, details?: object) => JSON.stringify({ error: 'Not now.', code, details });
  const cases: readonly (readonly [said: string, status: number, code: string])[] = [
    [reply(409, error('power_pending', { action: 'sleep' })), 409, 'power_pending'],
    [reply(501, error('not_supported', { reason: 'x' })), 501, 'not_supported'],
    [reply(429, error('too_many_requests')), 429, 'too_many_requests'],
    // Certain: it was not done.
    [reply(409, error('not_possible_now', { lateness: 'late' })), 503, 'host_unreachable'],
    [reply(503, error('shutting_down')), 503, 'host_unreachable'],
    [reply(400, error('bad_request')), 503, 'host_unreachable'],
    [reply(401, ''), 503, 'host_unreachable'],
    [reply(404, 'x', { 'Content-Type': 'text/html' }), 503, 'host_unreachable'],
    // Nobody knows.
    [reply(502, '<html>', { 'Content-Type': 'text/html' }), 504, 'outcome_unknown'],
    [reply(500, error('power_pending')), 504, 'outcome_unknown'],
    [reply(500, error('constructor')), 504, 'outcome_unknown'],
    [reply(200, '<html>', { 'Content-Type': 'text/html' }), 504, 'outcome_unknown'],
  ];
  let next = '';
  const { lock, commands } = await open(t, ({ path }) => (path.startsWith('/api/pw') ? next : undefined));
  for (const [said, status, code] of cases) {
    next = said;
    const answer = await lock();
    t.equal(answer.status, status, said);
    t.match(jsonOf(answer), { code });
  }
  t.equal(commands().length, cases.length);
});

t.test('[I.hub.hostile] a hung agent costs the others nothing', async (t) => {
  const hung = await AnsweringAgent.start(t, ({ path }) =>
    path.startsWith('/api/pw') ? new Promise(() => undefined) : undefined,
  );
  const well = await AnsweringAgent.start(t, ({ path }) => (path.startsWith('/api/pw') ? OK : undefined));
  const config = { ...ALL, server: { max_requests_per_address: 0 } };
  const hub = await startHub(t, { hung: { url: hung.url }, well: { url: well.url } }, config, PATIENT);
  await hub.host('hung', isUp);
  await hub.host('well', isUp);
  const waiting = Array.from({ length: 80 }, () => ask(hub.port, '/api/hosts/hung/pw'));
  await until(() => (hung.at('/api/pw').length > 0 ? true : undefined));
  const commands = Array.from({ length: 80 }, () =>
    ask(hub.port, '/api/hosts/hung/pw/lock', { method: 'POST' }),
  );
  const refused = await Promise.race(commands);
  t.equal(refused.status, 429, 'only so many wait');
  t.match(jsonOf(refused), { error: 'Too many requests wait for this machine.' });
  t.equal((await ask(hub.port, '/api/hosts/well/pw/lock', { method: 'POST' })).status, 200);
  t.ok(hung.open <= 7, 'three for reads, and four for commands of one address');
  await hub.stop();
  await Promise.allSettled([...waiting, ...commands]);
});

t.test('[I.hub.kept] an agent that is ended is found down at once, not at the next check', async (t) => {
  const agent = await AnsweringAgent.start(t, () => undefined);
  const hub = await startHub(t, { a: { url: agent.url } }, {}, PATIENT);
  await hub.host('a', isUp);
  // A connection that ends right after its answer says nothing.
  await new Promise((resolve) => setTimeout(resolve, 2500));
  agent.stop();
  await hub.host('a', isDown);
  t.pass('the next check would have come ten minutes later');
});

t.test('[I.hub.kept] checks share one connection', async (t) => {
  const agent = await AnsweringAgent.start(t, () => undefined);
  const hub = await startHub(t, { a: { url: agent.url } }, {}, { presenceMs: 20 });
  await hub.host('a', isUp);
  await until(() => (agent.seen.filter(({ method }) => method === 'HEAD').length > 20 ? true : undefined));
  t.equal(agent.connections, 1);
});
