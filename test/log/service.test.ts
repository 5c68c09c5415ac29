/** The log of the running program: its start and its end, its forms, and the audit trail in a file of its own. */
import { spawn } from 'node:child_process';
import { readFileSync, renameSync, statSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import t, { type Test } from 'tap';
import { ask } from '../helpers/clients/http.ts';
import { SocketClient } from '../helpers/clients/socket.ts';
import { type ServiceProcess, startService } from '../helpers/service/service.ts';
import { until } from '../helpers/until.ts';

const KEY = '0123456789abcdef0123456789abcdef';

async function start(t: Test, options: Parameters<typeof startService>[0] = {}): Promise<ServiceProcess> {
  const service = await startService(options);
  t.teardown(() => service.stop('SIGKILL'));
  return service;
}

const linesOf = (text: string) => text.trimEnd().split('\n');

for (const signal of ['SIGTERM', 'SIGINT'] as const)
  t.test(`[9.log-lines] from its version to ${signal}, each line with its time and level`, async (t) => {
    const service = await start(t);
    t.match(await service.stop(signal), { code: 0 });
    const lines = linesOf(service.stderr());
    for (const line of lines) t.match(line, /^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z hostwire (?:info|warn): \S/);
    const texts = lines.map((line) => line.slice(line.indexOf(' ') + 1));
    t.match(texts[0], /^hostwire info: version \S+, process \d+, Node v\d/);
    t.equal(texts[1], `hostwire info: configuration: ${service.configFile}`);
    t.strictSame(texts.slice(-2), [`hostwire info: stopping: ${signal}`, 'hostwire info: stopped']);
  });

t.test('[9.log-lines] under journald: the priority instead of the time', async (t) => {
  // As systemd does it: the variable names the file that standard error is.
  const script = 'JOURNAL_STREAM=$(stat -L -c %d:%i /proc/self/fd/2) exec "$0" "$@"';
  const service = await start(t, {
    start: (command, args, how) => spawn('sh', ['-c', script, command, ...args], how),
  });
  const lines = linesOf(service.stderr());
  for (const line of lines) t.match(line, /^<[46]>[a-zA-Z]/);
  t.match(lines[0], /^<6>version /);
  t.match(
    lines.find((line) => line.includes('power.backend is record')),
    /^<4>/,
  );
});

t.test('[9.log-lines] log.format json: an object per line', async (t) => {
  const service = await start(t, { config: { log: { format: 'json' } } });
  await ask(service.port, '/api/pw/cancel', { method: 'POST' });
  t.match(await service.stop(), { code: 0 });
  const rows = linesOf(service.stderr()).map((line) => JSON.parse(line));
  for (const row of rows) t.match(row, { time: /^\d{4}-\S+Z$/, level: /^(?:info|warn)$/, message: String });
  t.match(
    rows.find(({ address }) => address !== undefined),
    { message: 'power: cancel done', address: '127.0.0.1', keyed: false },
  );
});

/** A command per kind, none of which changes anything. */
async function command({ port }: ServiceProcess, headers: Readonly<Record<string, string>> = {}) {
  for (const [target, body] of [
    ['/api/pw/sleep?delay=600', {}],
    ['/api/pw/cancel', {}],
    ['/api/pw/restart', {}],
    ['/api/media/control', { action: 'seek', value: 1 }],
    ['/api/processes/kill', { pid: 1 }],
  ] as const)
    await ask(port, target, { method: 'POST', headers, body: JSON.stringify(body) });
}

/** Their lines in the audit trail. */
const TRAIL = [
  / hostwire info: power: sleep accepted WHO$/,
  / hostwire info: power: sleep cancelled WHO$/,
  / hostwire info: power: cancel done WHO$/,
  / hostwire info: power: restart refused: feature_disabled WHO$/,
  / hostwire info: media: seek refused: not_supported WHO reason="/,
  / hostwire info: process: kill refused: not_possible_now WHO pid=1$/,
];
const trailOf = (who: string) => TRAIL.map(({ source }) => new RegExp(source.replace('WHO', who)));

const CONFIG = {
  auth: { enabled: true, api_key: KEY, allowed_ips: ['*', '127.0.0.1'] },
  features: { enable_process_control: true },
};

t.test('[9.audit] the client, whether it has the key, the request, and the outcome', async (t) => {
  const service = await start(t, { config: CONFIG });
  await command(service);
  await command(service, { Authorization: `Bearer ${KEY}` });
  t.match(await service.stop(), { code: 0 });
  const trail = linesOf(service.stderr()).filter((line) => line.includes(' address='));
  t.match(trail, [
    ...trailOf('address=127\\.0\\.0\\.1 keyed=false'),
    ...trailOf('address=127\\.0\\.0\\.1 keyed=true key=default'),
  ]);
  t.equal(trail.length, 2 * TRAIL.length);
  t.notMatch(service.stderr(), KEY);
});

t.test('[9.audit] an IPv6 client has its whole address; its network is for limits only', async (t) => {
  const service = await start(t, { config: { ...CONFIG, server: { trusted_proxies: ['127.0.0.1'] } } });
  const cancel = { action: 'cancel' };
  const addresses = ['::1', '2001:db8:1:2:3:4:5:6', 'fe80::1', '::ffff:192.0.2.7'];
  for (const address of addresses) {
    const headers = { 'X-Forwarded-For': address, Authorization: `Bearer ${KEY}` };
    await ask(service.port, '/api/pw/cancel', { method: 'POST', headers });
    const client = await SocketClient.open(service.port, { headers });
    t.match((await client.askToEnd('power', cancel, 1)).at(-1)?.data, { success: true });
    client.cut();
  }
  const wrong = { 'X-Forwarded-For': '2001:db8::5', Authorization: 'Bearer wrong' };
  t.equal((await ask(service.port, '/api/usage', { headers: wrong })).status, 401);
  t.match(await service.stop(), { code: 0 });
  const named = service.stderr().match(/(?<= address=)\S+/g) ?? [];
  const expected = [...addresses.slice(0, 3), '192.0.2.7'].flatMap((address) => [address, address]);
  t.strictSame(named, [...expected, '2001:db8::5']);
});

t.test('[9.audit] log.file has it whatever the level, and is begun again on SIGHUP', async (t) => {
  const file = path.join(t.testdir(), 'audit.log');
  const service = await start(t, { config: { ...CONFIG, log: { file, level: 'warn' } } });
  await command(service);
  const before = readFileSync(file, 'utf8');
  t.match(linesOf(before), trailOf('address=127\\.0\\.0\\.1 keyed=false'));
  t.notMatch(service.stderr(), / address=/, 'the log has none of it');
  t.equal(statSync(file).mode & 0o777, 0o600);
  renameSync(file, `${file}.1`);
  await ask(service.port, '/api/pw/cancel', { method: 'POST' });
  t.ok(readFileSync(`${file}.1`, 'utf8').length > before.length, 'still the file that was moved');
  process.kill(service.pid, 'SIGHUP');
  const isThere = () => statSync(file, { throwIfNoEntry: false })?.isFile() === true;
  await until(isThere);
  t.ok(isThere(), 'a new one');
  const moved = readFileSync(`${file}.1`, 'utf8');
  await command(service);
  t.match(linesOf(readFileSync(file, 'utf8')), trailOf('address=127\\.0\\.0\\.1 keyed=false'));
  t.equal(readFileSync(`${file}.1`, 'utf8'), moved, 'nothing more in the old one');
});
