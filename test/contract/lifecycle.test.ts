/** Start and stop of the program: listening, a port in use, signals, a thousand open streams. */
import { chmodSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import process from 'node:process';
import t from 'tap';
import { loadEngine } from '#src/engines.js';
import { EventStream } from '../helpers/clients/event-stream.ts';
import { ask, jsonOf, RawConnection, requestBytes, valuesOf } from '../helpers/clients/http.ts';
import { listen } from '../helpers/clients/listen.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { checkTime } from '../helpers/limits.ts';
import { configText, runToEnd, serveProgram, startHere, startService } from '../helpers/service/service.ts';
import { until } from '../helpers/until.ts';

t.test('[9.listening] standard error says where it listens when it serves', async (t) => {
  const service = await startService();
  t.equal((await ask(service.port, '/api/status')).status, 200);
  t.match(service.stderr(), new RegExp(`listening on http://127\\.0\\.0\\.1:${service.port}\\n`));
  t.match(await service.stop(), { code: 0 });
});

t.test('[9.listening-wildcard] for a wildcard it names the localhost URL', async (t) => {
  const service = await serveProgram(t, { host: '0.0.0.0' });
  t.match(
    service.stderr(),
    new RegExp(`listening on http://\\S+:${service.port} .*http://localhost:${service.port}`),
  );
  t.equal((await ask(service.port, '/api/status')).status, 200);
});

t.test('[9.port-taken] a port in use: exit 1 immediately with a sentence that names it', async (t) => {
  const port = await listen(t, net.createServer());
  const { code, stderr, tookMs } = await runToEnd(['--host', '127.0.0.1', '--port', `${port}`]);
  t.equal(code, 1);
  t.match(stderr, new RegExp(`\\b${port}\\b`));
  t.notMatch(stderr, /\n\s+at |listening on/, 'a sentence, no stack');
  checkTime(t, tookMs, 3000, "with Node's own start");
});

/** A start of each role that fails after something was opened. `URL` is that of the port in use, `KEY` a file. */
const FAILED_STARTS: Readonly<Record<string, { args: readonly string[]; config: object }>> = {
  'a service with an exporter': {
    args: [],
    config: { mqtt: { url: 'mqtt://URL' }, history: { minutes: 1 } },
  },
  'a hub without machines': { args: ['hub'], config: {} },
  'a hub that dials': { args: ['hub'], config: { hub: { agents: { a: { url: 'http://URL' } } } } },
  'a hub that is dialled': {
    args: ['hub'],
    config: { hub: { agents: { a: { dials_in: true, key_file: 'KEY' } } } },
  },
  'a hub with a broker': { args: ['hub'], config: { hub: { brokers: { room: 'mqtt://URL' } } } },
};

for (const [name, { args, config }] of Object.entries(FAILED_STARTS))
  t.test(`[9.port-taken] ${name}: exit 1, and no connection is left`, async (t) => {
    const port = await listen(
      t,
      net.createServer((socket) => socket.destroy()),
    );
    const key = path.join(t.testdir({ key: 'k'.repeat(64) }), 'key');
    chmodSync(key, 0o600);
    const all = JSON.stringify({ ...JSON.parse(configText({})), ...config });
    const text = all.replaceAll('URL', `127.0.0.1:${port}`).replaceAll('KEY', key);
    const file = path.join(t.testdirName, 'config.json');
    writeFileSync(file, text, { mode: 0o600 });
    const { code, stderr, tookMs } = await runToEnd([...args, '--host', '127.0.0.1', '--port', `${port}`], {
      file,
    });
    t.equal(code, 1);
    t.match(stderr, new RegExp(`^hostwire: cannot listen on port ${port} `, 'm'));
    checkTime(t, tookMs, 3000, "with Node's own start");
  });

t.test('[9.second-instance] a second instance never shares the port', async (t) => {
  const first = await serveProgram(t);
  for (const host of ['127.0.0.1', '0.0.0.0']) {
    const { code, stderr } = await runToEnd(['--host', host, '--port', `${first.port}`]);
    t.equal(code, 1, host);
    t.match(stderr, new RegExp(`\\b${first.port}\\b`));
  }
  for (let i = 0; i < 20; i++) t.equal((await ask(first.port, '/api/status')).status, 200);
});

t.test('[9.bad-config] a bad configuration: exit 1, one line per problem, each with its place', async (t) => {
  const folder = t.testdir({ 'config.yaml': 'auth:\n  enabled: maybe\nserver:\n  port: 70000\n' });
  const file = path.join(folder, 'config.yaml');
  const { code, stderr } = await runToEnd([], { file });
  t.equal(code, 1);
  t.equal(
    stderr,
    `hostwire: ${file}:2: auth.enabled: expected true or false, found "maybe"\n` +
      `${file}:4: server.port: expected a whole number from 0 to 65535, found 70000\n`,
  );
});

t.test('[9.arguments-exit] arguments that make no sense: exit 2 with a sentence', async (t) => {
  const { code, stdout, stderr } = await runToEnd(['--prot', '80']);
  t.equal(code, 2);
  t.equal(stdout, '');
  t.match(stderr, /^hostwire: unknown option "--prot" \(did you mean --port\?\)\. [^\n]+\n$/);
});

/** A Node that uWebSockets.js has no binary for: it finds its binary by this number. */
const WITHOUT_BINARY = [
  '--import',
  `data:text/javascript,Object.defineProperty(process, 'versions', { value: { ...process.versions, modules: '999' } })`,
];

t.test(
  "[9.engine] without a binary of uWebSockets.js Node's own engine runs, unless the other one is asked for",
  async (t) => {
    const ask = async (engine: 'auto' | 'uws' | 'node') =>
      (await runToEnd(['--version'], { server: { engine } }, WITHOUT_BINARY)).stdout;
    const [version = '', , engine = ''] = (await ask('auto')).split('\n');
    t.match(version, /^0\.\d+\.\d+\S*$/);
    t.match(engine, /^HTTP engine: Node's own \(uWebSockets\.js cannot be loaded here: [^\n]+\)$/);
    t.match(await ask('node'), "\nHTTP engine: Node's own (server.engine is node)\n");
    t.match(await ask('uws'), /\nHTTP engine: none: server\.engine is uws, but [^\n]+\nNode: /);
    const { code, stderr } = await runToEnd(['--port', '0'], { server: { engine: 'uws' } }, WITHOUT_BINARY);
    t.equal(code, 1);
    t.match(
      stderr,
      /^hostwire: server\.engine is uws, but uWebSockets\.js cannot be loaded here \([^\n]+\): set server\.engine to auto or node, [^\n]+\n$/m,
    );
  },
);

t.test('[9.engine] `auto` is uWebSockets.js where this Node can load its binary', async (t) => {
  const loads = await loadEngine('uws').then(
    () => true,
    () => false,
  );
  const engine = loads
    ? /\nHTTP engine: uWebSockets\.js \(its binary loads here\)\n/
    : /\nHTTP engine: Node's own \(uWebSockets\.js cannot be loaded here: [^\n]+\)\n/;
  t.match((await runToEnd(['--version'], { server: { engine: 'auto' } })).stdout, engine);
  const broken = await runToEnd(['--version'], { server: { port: -1 } });
  t.equal(broken.code, 0);
  t.match(broken.stdout, /\nHTTP engine: /, 'also where the configuration is wrong');
});

t.test('[9.signal] a second signal while it stops changes nothing', async (t) => {
  const service = await startService();
  const stream = await EventStream.openIn(t, service.port);
  await stream.next();
  const ending = service.stop('SIGTERM');
  process.kill(service.pid, 'SIGINT');
  t.match(await ending, { code: 0, signal: null });
});

for (const signal of ['SIGTERM', 'SIGINT'] as const)
  t.test(`[9.signal] ${signal} with nothing but idle connections: exit 0 within a second`, async (t) => {
    const service = await startService();
    const idle = await RawConnection.openIn(t, service.port);
    idle.write(requestBytes('/api/status'));
    await idle.readAnswer();
    const ending = await service.stop(signal);
    t.match(ending, { code: 0, signal: null });
    checkTime(t, ending.tookMs, 1000, 'exit');
  });

t.test(
  '[9.sigterm-1000] SIGTERM under 1,000 streams: all end on a frame boundary, exit 0 within a second',
  async (t) => {
    const service = await startService({ config: { stats: { stream_interval_seconds: 1 } } });
    const streams: EventStream[] = [];
    t.teardown(() => streams.forEach((stream) => stream.close()));
    for (let i = 0; i < 20; i++) {
      const opened = Array.from({ length: 50 }, () => EventStream.open(service.port));
      streams.push(...(await Promise.all(opened)));
    }
    await Promise.all(streams.map((stream) => stream.next()));
    const ended = Promise.all(streams.map((stream) => stream.ended()));
    const ending = await service.stop('SIGTERM');
    await ended;
    t.match(ending, { code: 0, signal: null });
    checkTime(t, ending.tookMs, 1000, 'exit');
    t.equal(streams.filter((stream) => stream.isEnded).length, 1000, 'each got the last, empty chunk');
    t.equal(streams.filter((stream) => stream.partial === '').length, 1000, 'none has half an event');
    await t.rejects(RawConnection.open(service.port), { code: 'ECONNREFUSED' }, 'the port is free');
  },
);

t.test(
  '[9.stop-accepting] [2.503-stopping] while it stops: no new connection, 503 on an open one',
  async (t) => {
    const service = await startHere(fixtureHost());
    const open = await RawConnection.openIn(t, service.port);
    open.write(requestBytes('/api/status'));
    await open.readAnswer();
    const stopped = service.stop();
    open.write(requestBytes('/api/usage'));
    const answer = await open.readAnswer();
    t.equal(answer.status, 503);
    t.match(jsonOf(answer), { code: 'shutting_down' });
    t.match(valuesOf(answer, 'retry-after'), [/^\d+$/]);
    await open.closed();
    await t.rejects(RawConnection.open(service.port), { code: 'ECONNREFUSED' });
    await stopped;
  },
);

t.test(
  '[9.stop-answers] a request that is being answered when the signal comes still gets its answer',
  async (t) => {
    const host = fixtureHost();
    const service = await startHere(host);
    const connection = await RawConnection.openIn(t, service.port);
    const { reads } = host;
    connection.write(requestBytes('/api/usage'));
    // The first reading; the answer comes after the second, 200 ms later.
    await until(() => host.reads > reads);
    const ending = service.stop();
    t.equal((await connection.readAnswer()).status, 200);
    await ending;
  },
);
