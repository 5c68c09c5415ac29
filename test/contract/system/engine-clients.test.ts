/** Programs whose requests are legal and unusual: haproxy's health checks, ab, and curl through a proxy. */
import { execFile, spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { PATIENCE_MS } from '../../helpers/limits.ts';
import { emptyFolder } from '../../helpers/scope.ts';
import { DIFFERENCES } from '../../helpers/service/differences.ts';
import { serveProgram } from '../../helpers/service/service.ts';

const run = promisify(execFile);
const HAPROXY = '/usr/sbin/haproxy';
const AB = '/usr/bin/ab';
const CURL = '/usr/bin/curl';

/** The option `skip` of a test that needs a program of Debian's `name`. */
const need = (program: string, name: string) => ({
  skip: existsSync(program) ? false : `${program} is missing: apt-get install ${name}`,
});

const service = await serveProgram(t);
const { port } = service;

/** The checks of haproxy by the name of its backend, and what Node's engine answers to them. */
const CHECKS = {
  'default: OPTIONS / HTTP/1.0': { lines: ['option httpchk'], code: '204', isUnusual: true },
  'HTTP/1.0': { lines: ['option httpchk GET /api/status'], code: '200', isUnusual: true },
  'HTTP/1.1': {
    lines: ['option httpchk', 'http-check send meth GET uri /api/status ver HTTP/1.1 hdr Host localhost'],
    code: '200',
    isUnusual: false,
  },
} as const;

/** Runs haproxy until the test ends; returns the path of its stats socket. */
function startHaproxy(t: Test): string {
  const folder = emptyFolder(t, 'haproxy');
  const socket = path.join(folder, 'stats');
  const backends = Object.values(CHECKS).flatMap(({ lines }, at) => [
    `backend b${at}`,
    ...lines,
    `server s 127.0.0.1:${port} check inter 100ms`,
  ]);
  const config = ['global', `stats socket ${socket}`, 'defaults', 'mode http', 'timeout check 60s'];
  const times = ['connect', 'client', 'server'].map((name) => `timeout ${name} 60s`);
  const file = path.join(folder, 'haproxy.cfg');
  writeFileSync(file, `${[...config, ...times, ...backends].join('\n')}\n`);
  const child = spawn(HAPROXY, ['-db', '-f', file], { stdio: ['ignore', 'ignore', 'pipe'] });
  child.stderr.setEncoding('utf8').on('data', (text: string) => t.comment(text.trim()));
  t.teardown(() => child.kill('SIGKILL'));
  return socket;
}

/** `show stat`: one record per line, by the names of its first line. Rejects while the socket is not there. */
async function readStats(socket: string): Promise<readonly Readonly<Record<string, string>>[]> {
  const connection = net.connect(socket);
  connection.end('show stat\n');
  let text = '';
  for await (const part of connection.setEncoding('utf8')) text += String(part);
  const [names = [], ...rows] = text
    .trim()
    .split('\n')
    .map((line) => line.replace(/^# /, '').split(','));
  return rows.map((cells) => Object.fromEntries(names.map((name, at) => [name, cells[at] ?? ''])));
}

t.test('[9.engine-unusual] health checks of haproxy', need(HAPROXY, 'haproxy'), async (t) => {
  const socket = startHaproxy(t);
  const deadline = performance.now() + PATIENCE_MS;
  const settled = /^L7(?:OK|STS)$/;
  const serverRows = async () => {
    const rows = await readStats(socket).catch(() => []);
    const servers = rows.filter(({ svname }) => svname === 's');
    // A server counts as up until its checks have failed three times.
    return servers.filter((row) => settled.test(row['check_status'] ?? '') && !/ /.test(row['status'] ?? ''));
  };
  let rows = await serverRows();
  while (rows.length < Object.keys(CHECKS).length && performance.now() < deadline) {
    await sleep(50);
    rows = await serverRows();
  }
  for (const [at, [name, { code, isUnusual }]] of Object.entries(CHECKS).entries()) {
    const row = rows.find(({ pxname }) => pxname === `b${at}`);
    const isServed = DIFFERENCES.servesAllForms || !isUnusual;
    t.match(
      row,
      isServed ? { status: 'UP', check_status: 'L7OK', check_code: code } : { status: 'DOWN' },
      name,
    );
  }
});

for (const [name, flags] of Object.entries({ 'a connection each': [], 'kept alive': ['-k'] }))
  t.test(`[9.engine-unusual] ab, ${name}`, need(AB, 'apache2-utils'), async (t) => {
    // Lengths differ: the answer has the time since the start.
    const target = `http://127.0.0.1:${port}/api/status`;
    const { stdout } = await run(AB, ['-n', '200', '-c', '4', '-l', ...flags, target]);
    const count = (what: string) => new RegExp(`^${what}: +(\\d+)`, 'm').exec(stdout)?.[1];
    t.equal(count('Complete requests'), '200');
    t.equal(count('Failed requests'), '0');
    t.equal(count('Non-2xx responses'), DIFFERENCES.servesAllForms ? undefined : '200');
    if (flags.length > 0) t.equal(count('Keep-Alive requests'), DIFFERENCES.servesAllForms ? '200' : '0');
  });

t.test('[9.engine-unusual] curl, which asks a proxy in absolute form', need(CURL, 'curl'), async (t) => {
  const own = `http://127.0.0.1:${port}`;
  const { stdout } = await run(CURL, [
    '-s',
    '-o',
    '/dev/null',
    '-w',
    '%{http_code}',
    '-x',
    own,
    `${own}/api/status`,
  ]);
  t.equal(stdout, DIFFERENCES.servesAllForms ? '200' : '505');
});
