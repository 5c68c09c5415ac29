/**
 * The log among hostile and failing requests: it grows by less than 64 KiB, says how many lines were left out, and the
 * audit trail of clients with the key is complete. 100,000 requests per engine with HOSTWIRE_FULL=1, else 5,000.
 */
import '../helpers/service/dead-buses.ts';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { RawConnection } from '../helpers/clients/http.ts';
import { SocketClient } from '../helpers/clients/socket.ts';
import type { Told } from '../helpers/clients/talk.ts';
import { type ServiceProcess, startService } from '../helpers/service/service.ts';
import { ADMITTED, BLOCKED, type HostileKind, KINDS, MESSAGES, TALKING } from './hostile-requests.ts';

const IS_FULL = process.env['HOSTWIRE_FULL'] === '1';
const REQUESTS = IS_FULL ? 100_000 : 5000;
const MAX_GROWTH = 64 * 1024;
const WORKERS = 32;
const KEY = 'k'.repeat(64);
const ANSWER_MS = 2000;
const MINUTE_MS = 60_000;

t.setTimeout(3_600_000);

const config = (folder: string, engine: 'uws' | 'node') => ({
  server: { engine, max_streams_per_address: 2 },
  auth: {
    enabled: true,
    api_key: KEY,
    allowed_ips: ['*', `${ADMITTED}.0/24`, `${TALKING}.0/24`],
    blocked_ips: [`${BLOCKED}.0/24`],
  },
  features: { enable_process_control: true, enable_sleep: true },
  processes: { launch: { wait: { command: '/bin/sleep', args: ['60'], allow_args: false, env: {} } } },
  power: { backend: 'record' as const },
  log: { file: path.join(folder, 'audit.log') },
});

/** The status of the answer to one request; '' where the connection was closed without one. */
async function statusOf(port: number, from: string, bytes: string): Promise<string> {
  return await new Promise((resolve) => {
    const socket = net.connect({ port, host: '127.0.0.1', localAddress: from });
    const settle = (status: string) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(status);
    };
    const timer = setTimeout(settle, ANSWER_MS, 'none');
    socket.once('data', (answer) => settle(String(answer).slice(9, 12)));
    socket.once('error', () => settle(''));
    socket.once('close', () => settle(''));
    socket.write(bytes, 'latin1');
  });
}

/** Sends `count` requests of all kinds in turns; kind → status → how many. */
async function attack(port: number, count: number): Promise<Map<HostileKind, Map<string, number>>> {
  const statuses = new Map(KINDS.map((kind) => [kind, new Map<string, number>()]));
  let next = 0;
  const work = async () => {
    for (let i = next++; i < count; i = next++) {
      const kind = KINDS[i % KINDS.length];
      if (kind === undefined) continue;
      const { from, bytes } = kind.make(Math.floor(i / KINDS.length));
      const status = await statusOf(port, from, bytes);
      const counts = statuses.get(kind);
      counts?.set(status, (counts.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, work));
  return statuses;
}

/** Sends wrong messages as fast as they are answered, from sockets that are opened again when they are closed. */
async function shout(port: number, count: number): Promise<number> {
  let sent = 0;
  const work = async (worker: number) => {
    while (sent < count) {
      const client = await SocketClient.open(port, { from: `${TALKING}.${1 + worker}` });
      for (; sent < count && !client.isClosed; sent++) {
        client.sayText(MESSAGES[sent % MESSAGES.length]?.(sent) ?? '');
        if (sent % 50 === 0) await sleep(1);
      }
      client.cut();
    }
  };
  await Promise.all(Array.from({ length: 4 }, (_, worker) => work(worker)));
  return sent;
}

/** Two streams each, for the addresses that then ask for a third. */
async function fillStreams(t: Test, port: number): Promise<void> {
  for (let i = 0; i < 500; i++) {
    const stream = await RawConnection.openIn(t, port, '127.0.0.1', `${ADMITTED}.${1 + (i % 250)}`);
    stream.write('GET /api/stream?fields=network HTTP/1.1\r\nHost: localhost\r\n\r\n');
  }
  await sleep(500);
}

const linesOf = (file: string) => readFileSync(file, 'utf8').trimEnd().split('\n');

const isOver = ({ type, data }: Told) => type === 'error' || data['final'] === true;

/** Lines that the audit trail must have of the commands below: outcome → lines. */
const OUTCOMES: Readonly<Record<string, number>> = {
  'process: launch done': 20,
  'process: (?:end|kill) done': 20,
  'media: seek (?:failed|refused): \\w+': 20,
  'power: restart refused: feature_disabled': 20,
  'power: sleep (?:accepted|done)': 10,
  'power: cancel (?:accepted|done)': 10,
};

/** One hundred commands with the key, through both protocols. Returns the processes that were started and ended. */
async function command(t: Test, { port }: ServiceProcess, from: string): Promise<readonly unknown[]> {
  const client = await SocketClient.openIn(t, port, { headers: { authorization: `Bearer ${KEY}` }, from });
  const say = async (op: string, data: object) => {
    // Twenty per second are allowed.
    await sleep(60);
    client.say(op, data, op);
    return (await client.take(isOver)).data;
  };
  const postTo = async (target: string) => {
    const head = ['Host: localhost', `Authorization: Bearer ${KEY}`];
    return await statusOf(port, from, `POST ${target} HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n`);
  };
  const pids: unknown[] = [];
  for (let i = 0; i < 20; i++) pids.push((await say('process_launch', { app: 'wait' }))['pid']);
  for (const pid of pids) await say('process_kill', { pid, signal: 'kill' });
  for (let i = 0; i < 20; i++) {
    await say('media', { action: 'seek', value: i });
    t.equal(await postTo('/api/pw/restart'), '403');
  }
  for (let i = 0; i < 10; i++) {
    t.equal(await postTo('/api/pw/sleep?delay=600'), '200');
    t.equal(await postTo('/api/pw/cancel'), '200');
  }
  return pids;
}

function checkTrail(t: Test, audit: string, from: string, pids: readonly unknown[]): void {
  const trail = linesOf(audit).filter((line) => line.includes('keyed=true'));
  t.equal(trail.length, 100, 'a line per command with the key, in the midst of it');
  for (const [outcome, count] of Object.entries(OUTCOMES)) {
    const line = new RegExp(` ${outcome} address=${from.replaceAll('.', '\\.')} keyed=true`);
    t.equal(trail.filter((each) => line.test(each)).length, count, outcome);
  }
  const ended = trail.filter((line) => pids.some((pid) => line.includes(` pid=${String(pid)}`)));
  t.equal(ended.length, 40, 'each process by its number, at its start and at its end');
}

for (const engine of ['uws', 'node'] as const)
  t.test(`[9.hostile-log] ${REQUESTS} hostile requests on ${engine}`, async (t) => {
    const folder = t.testdir();
    const audit = path.join(folder, 'audit.log');
    const service = await startService({ config: config(folder, engine) });
    t.teardown(() => service.stop('SIGKILL'));
    await fillStreams(t, service.port);
    const size = () => Buffer.byteLength(service.stderr()) + readFileSync(audit).length;
    const before = size();
    const startedAt = performance.now();
    const statuses = await attack(service.port, REQUESTS * 0.9);
    const messages = await shout(service.port, REQUESTS * 0.1);
    for (const [{ name, expects }, counts] of statuses)
      t.ok(
        [...counts.keys()].every((status) => expects.test(status)),
        `${name}: ${[...counts].map(([s, n]) => `${n} × ${s || 'closed'}`).join(', ')}`,
      );
    t.comment(`${messages} messages; all in ${Math.round(performance.now() - startedAt)} ms`);

    checkTrail(t, audit, '127.0.0.1', await command(t, service, '127.0.0.1'));

    await sleep(MINUTE_MS + 1000);
    const growth = size() - before;
    t.comment(
      `figure: ${engine}: ${REQUESTS} requests of ${KINDS.length + 1} kinds, the log grew by ${growth} bytes`,
    );
    t.ok(growth < MAX_GROWTH, `${growth} bytes`);
    const leftOut = [...service.stderr().matchAll(/ (\d+) lines were left out within a minute/g)];
    t.ok(leftOut.length > 0, 'what was left out is counted');
    t.comment(`${leftOut.map(([, count]) => count).join(' and ')} lines were left out`);
    t.notMatch(
      service.stderr() + readFileSync(audit, 'utf8'),
      /\p{Cc}(?<!\n)|k{64}/u,
      'nothing of a terminal, and no key',
    );
    t.match(await service.stop(), { code: 0 });
  });
