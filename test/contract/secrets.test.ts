/** A canary key appears nowhere: in no log line, answer, error, print-out or title of the process, on any path. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { RawConnection } from '../helpers/clients/http.ts';
import { PATIENCE_MS } from '../helpers/limits.ts';
import { type ConfigPart, runToEnd, type ServiceProcess, serveProgram } from '../helpers/service/service.ts';
import { until } from '../helpers/until.ts';

/** The service's key, and a wrong one sent by a client: neither may appear anywhere. */
const KEY = 'canary-right-0123456789abcdef0123456789';
const WRONG = 'canary-wrong-0123456789abcdef0123456789';
// Parts too, and whatever the case: a shortened or lower-cased key is half a key.
const CANARY = /canary|89abcdef/i;

/** Everything read until the service closes the connection or sends no more; '' where it sends nothing for `limitMs`. */
async function exchange(port: number, bytes: string, limitMs = 1500): Promise<string> {
  const connection = await RawConnection.open(port);
  connection.write(bytes);
  const deadline = performance.now() + limitMs;
  while (!connection.isClosed && connection.rest.length === 0 && performance.now() < deadline) await sleep(5);
  // The rest of the answer comes with it.
  await sleep(5);
  connection.destroy();
  return connection.rest.toString('latin1');
}

const PATHS = [
  '/api/status',
  '/api/usage',
  '/api/system',
  '/api/stream',
  '/api/ws',
  '/api/pw',
  '/api/nope',
  '/',
];
const UPGRADE =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';

/** Requests, good and bad, that carry `key` in every place where a client might put it. */
function requestsWith(key: string): readonly string[] {
  const get = (target: string, headers: string) =>
    `GET ${target} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`;
  const post = (target: string, headers: string, body: string) =>
    `POST ${target} HTTP/1.1\r\nHost: localhost\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`;
  const bearer = `Authorization: Bearer ${key}\r\n`;
  return [
    ...PATHS.flatMap((each) => [
      get(each, bearer),
      get(each, `${bearer}Origin: https://page.example\r\n`),
      get(`${each}?api_key=${key}`, ''),
      get(`${each}?api_key=${key}`, UPGRADE),
      get(`${each}?api_key=${key}&api_key=${key}`, UPGRADE),
      get(`${each}?fields=${key}!&detail=${key}`, bearer),
    ]),
    ...['/api/pw/sleep', '/api/pw/cancel', '/api/nope'].flatMap((each) => [
      post(each, bearer, `{"api_key": "${key}"}`),
      post(`${each}?api_key=${key}`, '', key),
      post(`${each}?delay=1`, `${bearer}Transfer-Encoding: gzip\r\n`, key),
    ]),
    ...[
      `Authorization: Basic ${key}\r\n`,
      `Authorization: ${key}\r\n`,
      `Authorization: Bearer  ${key} ${key}\r\n`,
      `${bearer}${bearer}`,
      `X-Api-Key: ${key}\r\n`,
      `Cookie: api_key=${key}\r\n`,
      `Origin: https://me:${key}@page.example\r\n`,
      `Origin: ${key}\r\n`,
      `X-Forwarded-For: ${key}\r\n${bearer}`,
      `Content-Type: ${key}\r\nContent-Length: ${key}\r\n`,
      `Expect: ${key}\r\n`,
      `: ${key}\r\n`,
      `${key}\r\n`,
      `Authorization\r\n: ${key}\r\n`,
    ].map((headers) => get('/api/usage', headers)),
    get('/api/usage', `${bearer}Host: evil.example.com\r\n`),
    `GET /api/usage HTTP/1.1\r\nHost: me:${key}@localhost\r\n\r\n`,
    `GET /api/usage HTTP/1.1\r\n${bearer}\r\n`,
    `GET /api/usage HTTP/1.0\r\nHost: localhost\r\n${bearer}\r\n`,
    `${key} /api/usage HTTP/1.1\r\nHost: localhost\r\n\r\n`,
  ];
}

/** The parts of the process that every user of the machine can see. */
function titleOf({ pid }: ServiceProcess): string {
  return ['cmdline', 'comm', 'stat'].map((name) => readFileSync(`/proc/${pid}/${name}`, 'latin1')).join(' ');
}

async function checkTraffic(t: Test, service: ServiceProcess): Promise<void> {
  const requests = [...requestsWith(KEY), ...requestsWith(WRONG)];
  const counts = new Map<string, number>();
  // A dozen at a time: a connection that is cut without an answer is waited for.
  for (let at = 0; at < requests.length; at += 12) {
    const batch = requests.slice(at, at + 12);
    const answers = await Promise.all(batch.map((bytes) => exchange(service.port, bytes)));
    for (const [index, answer] of answers.entries()) {
      const status = /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 'none';
      counts.set(status, (counts.get(status) ?? 0) + 1);
      if (CANARY.test(answer)) t.fail('an answer repeats a key', { request: batch[index], answer });
    }
  }
  // A hundred wrong keys per minute are worth a line.
  for (let at = 0; at < 110; at += 1)
    await exchange(
      service.port,
      `GET /api/usage HTTP/1.1\r\nHost: pc\r\nAuthorization: Bearer ${WRONG}${at}\r\n\r\n`,
    );
  for (const status of ['200', '400', '401', '404', '426'])
    t.ok((counts.get(status) ?? 0) > 0, `${counts.get(status)} × ${status}`);
  t.match(service.stderr(), /access: wrong key address=127\.0\.0\.1 *\n/);
}

/** Configurations that are wrong around a key. */
function badTexts(key: string): readonly string[] {
  return [
    `{"auth": {"api_key": ["${key}"]}}`,
    `{"auth": {"api_key": "${key}", "api_key": "${key}2"}}`,
    `{"auth": {"api_key": "${key}\\u0001"}}`,
    `{"auth": {"api_key": "${key} "}}`,
    `{"auth": {"api_key": "${key}"`,
    `{"auth": {"api_key": "${key}",}}`,
    `{"auth": {"api_key": ${key}}}`,
    `{"auth": {"apikey": "${key}"}}`,
    `{"auth": {"key_to_it": "${key}"}}`,
    `{"auth": {"api_key_file": "${key}"}}`,
    `{"auth": {"api_key": "${key}", "api_key_file": "${key}"}}`,
    `{"auth": "${key}"}`,
    `"${key}"`,
    `{"api_key": "${key}"}`,
    `{"auth": {"enabled": ["${key}"]}}`,
    `{"server": {"cors_origins": ["https://me:${key}@page.example"]}}`,
    `{"processes": {"launch": {"app": {"command": "/bin/true", "env": {"TOKEN": 5, "KEY": "${key}"}}}}}`,
    `{"auth": {"api_key": "${key}"}}\0`,
  ];
}

async function checkReloads(t: Test, service: ServiceProcess): Promise<void> {
  const before = service.stderr().length;
  const file = service.configFile;
  for (const text of badTexts(KEY)) {
    const said = service.stderr().length;
    writeFileSync(`${file}.new`, text, { mode: 0o600 });
    renameSync(`${file}.new`, file);
    process.kill(service.pid, 'SIGHUP');
    const deadline = performance.now() + 3000;
    while (!service.stderr().slice(said).includes('\n') && performance.now() < deadline) await sleep(10);
  }
  const errors = service
    .stderr()
    .slice(before)
    .match(/the configuration was not reloaded/g);
  t.ok((errors?.length ?? 0) >= 10, `${errors?.length} bad files were complained of`);
}

async function checkPrintOuts(t: Test, config: ConfigPart): Promise<void> {
  for (const command of ['check', 'doctor']) {
    const { stdout, stderr } = await runToEnd([command, '--port', '0'], config);
    t.match(stdout, command === 'check' ? /auth\.api_key = \(set, not shown\)/ : /configuration +ok/);
    t.notMatch(stdout + stderr, CANARY, `hostwire ${command}`);
  }
}

const AUTH = { enabled: true, api_key: KEY };

t.setTimeout(280_000);

t.test('[8.secrets-traffic] a key in a file, a header or a query', { timeout: 240_000 }, async (t) => {
  const service = await serveProgram(t, { config: { auth: AUTH, log: { level: 'debug' } } });
  await checkTraffic(t, service);
  t.notMatch(titleOf(service), CANARY, 'the title of the process');
  await checkReloads(t, service);
  t.notMatch(titleOf(service), CANARY);
  t.match(await service.stop(), { code: 0 });
  t.notMatch(service.stderr(), CANARY, 'the log');
});

t.test('[8.secrets-traffic] a key in a file of its own', { timeout: 240_000 }, async (t) => {
  const folder = t.testdir({ key: `${KEY}\n` });
  const auth = { enabled: true, api_key_file: path.join(folder, 'key') };
  const service = await serveProgram(t, { config: { auth, log: { level: 'debug' } } });
  const ask = (key: string) =>
    exchange(
      service.port,
      `GET /api/usage HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`,
      PATIENCE_MS,
    );
  t.match(await ask(KEY), /^HTTP\/1\.1 200 /);
  t.match(await ask(WRONG), /^HTTP\/1\.1 401 /);
  // Two lines are not a key; the message must not show them.
  writeFileSync(path.join(folder, 'key'), `${KEY}\n${WRONG}\n`);
  process.kill(service.pid, 'SIGHUP');
  await until(() => /was not reloaded/.test(service.stderr()));
  t.match(service.stderr(), /was not reloaded.*auth\.api_key_file/);
  t.notMatch(titleOf(service), CANARY);
  await service.stop();
  t.notMatch(service.stderr(), CANARY);
  await checkPrintOuts(t, { auth: { api_key_file: path.join(t.testdir({ key: KEY }), 'key') } });
});

t.test('[8.secrets-starts] starts that fail, and their output', { timeout: 240_000 }, async (t) => {
  await checkPrintOuts(t, { auth: AUTH });
  for (const text of badTexts(KEY)) {
    const file = path.join(t.testdir({ 'config.json': text }), 'config.json');
    for (const command of text === badTexts(KEY)[0] ? ['run', 'check', 'doctor'] : ['check']) {
      const ending = await runToEnd([command, '--port', '0'], { file });
      t.equal(ending.code, 1, `hostwire ${command} refuses ${JSON.stringify(text)}`);
      t.notMatch(ending.stdout + ending.stderr, CANARY, 'and does not quote the key');
    }
  }
});
