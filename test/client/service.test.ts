/** The client against a real service: keys, commands, questions, history, and a service that is killed during a request. */
import '../helpers/service/dead-buses.ts';
import { spawn } from 'node:child_process';
import { getEventListeners } from 'node:events';
import t, { type Test } from 'tap';
import { WebSocket } from 'ws';
import { describeDigest } from '#src/access/key.js';
import {
  ClientError,
  connect,
  history,
  type MachineEvent,
  processesAt,
  request,
  streamStats,
} from '#src/client/client.js';
import { FakeClock } from '../helpers/fakes/clock.ts';
import { FAKE_EVENT, FAKE_MACHINE_EVENT, FAKE_NOW, FakeHistory } from '../helpers/fakes/history.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { findFreePort } from '../helpers/service/free-port.ts';
import { serveHere, serveProgram, startService } from '../helpers/service/service.ts';
import { until } from '../helpers/until.ts';
import { liveClients } from './live-clients.ts';

const KEY = 'k'.repeat(40);
const WITH_KEY = { auth: { enabled: true, api_key: KEY } };

t.test('the key admits over all three interfaces; a wrong one, or none, ends them for good', async (t) => {
  const service = await serveProgram(t, { config: WITH_KEY });
  const url = service.baseUrl;
  const good = liveClients({ url, key: KEY });
  t.teardown(() => good.close());
  await good.socket.subscribe(['stats.cpu']);
  await until(() => good.samples.length > 0 && good.pushed.length > 0, 'nothing came');
  t.match((await request('/api/usage', { url, key: KEY })).data, { timestamp: Number });
  for (const key of [undefined, 'x'.repeat(40)]) {
    const bad = liveClients({ url, ...(key !== undefined && { key }) });
    const subscribed = bad.socket.subscribe(['stats']);
    await t.rejects(subscribed, { code: 'unauthorized', status: 401 });
    await until(() => bad.stream.state.state === 'closed', 'the stream is not closed');
    for (const { state } of [bad.stream, bad.socket])
      t.match(state, { state: 'closed', error: { code: 'unauthorized', status: 401 } });
    t.strictSame([bad.samples, bad.pushed], [[], []]);
    await until(() => bad.timers() === 0, 'a timer is left', 1000);
    await t.rejects(request('/api/usage', { url, ...(key !== undefined && { key }) }), {
      code: 'unauthorized',
    });
    await t.rejects(bad.socket.power('sleep'), { code: 'unauthorized' });
  }
  t.notMatch(service.stderr(), KEY, 'no key is in the log');
});

t.test(
  "[7.kill-socket] [7.process-ops] commands and questions: the promise settles with the service's answer",
  async (t) => {
    const service = await serveProgram(t, { config: { features: { enable_process_control: true } } });
    const { socket, close, events } = liveClients({ url: service.baseUrl });
    t.teardown(close);
    const stages: unknown[] = [];
    t.match(await socket.power('sleep', { onStage: ({ stage }) => stages.push(stage) }), {
      success: true,
      action: 'sleep',
      final: true,
      stage: 'done',
    });
    t.ok(stages.includes('accepted'), stages.join(' '));
    const { power, stats } = await socket.get(['power', 'stats.cpu', 'memory']);
    t.match(power?.recorded, [{ action: 'sleep' }]);
    t.match(stats, { cpu: {}, memory: {} });
    t.strictSame(Object.keys(stats ?? {}).sort(), ['cpu', 'memory', 'timestamp', 'uptime']);
    t.ok((await socket.ping()) >= 0);

    const scheduled = socket.power('sleep', { delay: 600 });
    scheduled.catch(() => undefined);
    await until(() => stages.length > 0, 'no stage');
    await socket.power('cancel');
    await t.rejects(scheduled, { name: 'ClientError', details: { stage: 'cancelled' } });

    const sleeper = spawn('sleep', ['60']);
    t.teardown(() => sleeper.kill('SIGKILL'));
    const pid = sleeper.pid ?? 0;
    const ended = new Promise((resolve) => sleeper.once('exit', (_code, signal) => resolve(signal)));
    const { processes } = await socket.processes.list({ query: String(pid), grouped: false });
    t.match(processes, [{ pid, name: 'sleep' }]);
    t.match(await socket.processes.details({ pid }), { processes: [{ pid }] });
    t.match(await socket.processes.kill({ pid }), { success: true, action: 'kill', final: true });
    t.equal(await ended, 'SIGTERM');
    await t.rejects(socket.processes.details({ pid }), { code: 'NOT_FOUND' });
    await t.rejects(socket.processes.kill({ pid: 1 }), { code: 'PROTECTED' });
    await t.rejects(socket.processes.kill({ pid: 0 }), { code: 'INVALID_DATA' });
    await t.rejects(socket.processes.launch('nothing'), { code: 'NOT_FOUND' });
    await t.rejects(socket.power('shutdown'), { code: 'FEATURE_DISABLED' });
    t.strictSame(events, [], 'listeners received nothing of it');
  },
);

t.test('a key of few scopes: refusals say which scope it lacks', async (t) => {
  const keys = { panel: { digest: describeDigest(KEY), scopes: ['read'] as const } };
  const service = await serveProgram(t, { config: { auth: { enabled: true, keys } } });
  const given = { url: service.baseUrl, key: KEY };
  const { socket, close, samples } = liveClients(given);
  t.teardown(close);
  await until(() => samples.length > 0, 'nothing came');
  const lacks = (code: string, requiredScope: string) => ({ code, requiredScope });
  await t.rejects(
    request('/api/pw/lock', { ...given, method: 'POST' }),
    lacks('scope_required', 'power.lock'),
  );
  await t.rejects(socket.power('lock'), lacks('FORBIDDEN', 'power.lock'));
});

t.test(
  'a service that is killed while a command is pending: it rejects and is never sent again',
  async (t) => {
    const port = await findFreePort();
    const first = await startService({ port });
    t.teardown(() => first.stop('SIGKILL'));
    const { socket, close, samples } = liveClients({ url: first.baseUrl });
    t.teardown(close);
    await socket.subscribe(['power']);
    const command = socket.power('sleep', { delay: 2 });
    command.catch(() => undefined);
    const question = socket.processes.list();
    await question;
    await first.stop('SIGKILL');
    await t.rejects(command, { code: 'connection_lost' });
    await t.rejects(socket.power('sleep'), { code: 'not_connected' });
    samples.length = 0;
    await serveProgram(t, { port });
    const { power } = await socket.get(['power'], { timeoutMs: 30_000 });
    await until(() => samples.length > 0, 'the stream is not back');
    // Longer than the command would have taken.
    await new Promise((resolve) => setTimeout(resolve, 2500));
    t.match(power, { pending: null, recorded: [] });
    t.match((await socket.get(['power'])).power, { pending: null, recorded: [] }, 'nothing was done again');
  },
);

t.test("with Node's own WebSocket", async (t) => {
  const service = await serveProgram(t, { config: WITH_KEY });
  const program = `
    import { connect } from ${JSON.stringify(import.meta.resolve('#src/client/client.js'))};
    const socket = connect({ url: '${service.baseUrl}', key: '${KEY}' });
    const sample = new Promise((resolve) => socket.on('system_stats', resolve));
    await socket.subscribe(['stats.memory']);
    console.log(Object.keys(await sample).join());
    console.log((await socket.media('play').catch((error) => error.code)).code ?? 'answered');
    socket.close();
  `;
  const flags = Number(process.versions.node.split('.')[0]) < 22 ? ['--experimental-websocket'] : [];
  const child = spawn(process.execPath, [...flags, '--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  t.equal(code, 0, 'it ends by itself once it is closed');
  t.match(text, /^timestamp,uptime,memory\n/);
});

t.test('the public functions, with their real timing', async (t) => {
  const service = await serveProgram(t);
  const controller = new AbortController();
  const { signal } = controller;
  const samples: unknown[] = [];
  const url = service.baseUrl;
  const stream = streamStats({ url, fields: ['memory'], onSample: (sample) => samples.push(sample), signal });
  const socket = connect({ url, WebSocket, signal });
  t.match(await socket.media('play').catch((error: unknown) => error), {});
  await until(() => samples.length > 0, 'no sample');
  t.strictSame(Object.keys(samples[0] ?? {}).sort(), ['memory', 'timestamp', 'uptime']);
  controller.abort();
  t.strictSame([stream.state, socket.state], [{ state: 'closed' }, { state: 'closed' }]);
  t.equal(getEventListeners(signal, 'abort').length, 0);
  await t.rejects(socket.ping(), ClientError);
});
const MOUNT = 'disk.used_percent//mnt/a,b';

async function start(t: Test) {
  const kept = new FakeHistory();
  const config = { auth: { enabled: true, api_key: KEY } };
  const started = await serveHere(t, fixtureHost(), config, { history: kept, clock: new FakeClock() });
  return { kept, service: { url: started.baseUrl, key: KEY } };
}

t.test('history and processesAt are single requests', async (t) => {
  const { kept, service } = await start(t);
  const all = { since: FAKE_NOW - 60, until: FAKE_NOW, step: 1 };
  const { series, step, count } = await history({ ...service, series: ['cpu.load', MOUNT], ...all });
  t.strictSame(Object.keys(series), ['cpu.load', MOUNT]);
  t.match({ step, count, mean: series['cpu.load']?.mean.length }, { step: 1, count: 60, mean: 60 });
  t.strictSame(kept.asked, [{ series: ['cpu.load', MOUNT], ...all }]);
  t.ok((await history(service)).available?.includes('cpu.load'), 'by default what is usual');
  for (const names of [[MOUNT], ['network.*']])
    t.strictSame((await history({ ...service, series: names })).unknown, [], `${names} is one name`);
  t.match(await processesAt(FAKE_NOW - 5, service), { at: FAKE_NOW - 5, cpu: [{ name: 'burn' }] });
  await t.rejects(history({ ...service, key: 'x'.repeat(40) }), { code: 'unauthorized' });
  await t.rejects(history({ ...service, step: 0 }), { code: 'invalid_value', status: 400 });
  kept.isOn = false;
  await t.rejects(history(service), { code: 'feature_disabled', status: 403 });
  await t.rejects(processesAt(-60, service), { code: 'feature_disabled' });
});

t.test('a socket has both, and the events', async (t) => {
  const { kept, service } = await start(t);
  const socket = connect({ ...service, WebSocket });
  t.teardown(() => socket.close());
  const found = await socket.history({ series: [MOUNT], since: FAKE_NOW - 60, timeoutMs: 60_000 });
  t.strictSame(Object.keys(found.series), [MOUNT]);
  t.match(kept.asked.at(-1), { series: [MOUNT], since: FAKE_NOW - 60 });
  t.match(await socket.processesAt(FAKE_NOW - 5), { at: FAKE_NOW - 5, taken_at: FAKE_NOW - 8 });
  const happened = new Promise<MachineEvent>((resolve) => socket.on('event', resolve));
  t.match(await socket.subscribe(['events']), { topics: ['events'] });
  kept.notify(FAKE_EVENT);
  t.match(await happened, FAKE_MACHINE_EVENT);
  await t.rejects(socket.get(['events']), { code: 'INVALID_DATA' });
  await t.rejects(socket.history({ step: 0 }), { code: 'INVALID_DATA' });
  kept.isOn = false;
  await t.rejects(socket.history(), { code: 'FEATURE_DISABLED' });
});
