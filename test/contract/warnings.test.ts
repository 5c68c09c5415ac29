/** The warnings at startup, each logged once, in words that explain the risk and the remedy to a newcomer. */
import { chmodSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import t from 'tap';
import { ask } from '../helpers/clients/http.ts';
import { ENGINE_PART } from '../helpers/service/engine.ts';
import { type ServiceProcess, serveProgram } from '../helpers/service/service.ts';
import { until } from '../helpers/until.ts';

const KEY = '0123456789abcdef0123456789abcdef';
const ROOT_WARNING =
  'hostwire warn: running as root, which is not needed: an unprivileged user is safer and sees the same stats';

const isRoot = process.getuid?.() === 0;

/** The lines above info, without those that the set-up of these tests causes: root, and the recording backend. */
function warningsOf(service: Pick<ServiceProcess, 'stderr'>): readonly string[] {
  return (
    service
      .stderr()
      .split('\n')
      // Without the time.
      .map((line) => line.replace(/^\S+Z (?=hostwire )/, ''))
      // Some machines that run tests are containers.
      .filter((line) => /^hostwire (warn|error): (?!running in a container)/.test(line))
      .filter((line) => line !== ROOT_WARNING && !line.includes('power.backend is record'))
  );
}

t.test('[9.warn-root] running as root without need', async (t) => {
  const service = await serveProgram(t);
  const count = service.stderr().split(`${ROOT_WARNING}\n`).length - 1;
  t.equal(count, isRoot ? 1 : 0, isRoot ? 'said once' : 'not said to an ordinary user');
});

t.test('[8.warn-readable] a file that holds a key and that others can read', async (t) => {
  const service = await serveProgram(t, { config: { auth: { enabled: true, api_key: KEY } } });
  t.same(warningsOf(service), [], 'mode 600: nothing to say');
  const { configFile } = service;
  chmodSync(configFile, 0o644);
  process.kill(service.pid, 'SIGHUP');
  await until(() => warningsOf(service).length > 0);
  const readable = (file: string) =>
    `hostwire warn: ${file}: holds the key and others can read it; run chmod o-r on it`;
  t.same(warningsOf(service), [readable(configFile)], 'logged at a reload');

  const folder = t.testdir({ key: `${KEY}\n` });
  const keyFile = path.join(folder, 'key');
  chmodSync(keyFile, 0o644);
  const other = await serveProgram(t, { config: { auth: { enabled: true, api_key_file: keyFile } } });
  t.same(warningsOf(other), [readable(keyFile)], 'the key file, at a start');
});

t.test('[1.notice-open] auth off beyond loopback is one loud warning at start', async (t) => {
  const service = await serveProgram(t, { host: '0.0.0.0' });
  t.same(warningsOf(service), [
    'hostwire warn: anyone who can reach this machine may use the service: auth.enabled is false and server.host is 0.0.0.0 ' +
      '(reading, sleep, hibernate, media, process list: on; restart, shutdown, process control, waking other machines: off). ' +
      'Set auth.enabled and auth.api_key, or server.host to 127.0.0.1. ' +
      'Do not forward a port of your router to it; use a VPN to reach it from outside.',
  ]);
  t.ok(service.stderr().indexOf('anyone who') < service.stderr().indexOf('listening on'), 'before it serves');
  // At a reload it is logged again if there is something new to report, and otherwise not.
  const rewrite = async (config: object, isDone: Parameters<typeof until>[0]) => {
    const text = JSON.stringify({ server: ENGINE_PART, ...config });
    writeFileSync(`${service.configFile}.new`, text, { mode: 0o600 });
    renameSync(`${service.configFile}.new`, service.configFile);
    process.kill(service.pid, 'SIGHUP');
    await until(isDone);
  };
  const power = { backend: 'record' };
  await rewrite({ power, features: { enable_shutdown: true } }, () => warningsOf(service).length > 1);
  t.match(
    warningsOf(service)[1],
    /\(reading, sleep, hibernate, shutdown, media, process list: on; restart, process/,
  );
  const near = { server: { ...ENGINE_PART, alowed_hosts: [] } };
  await rewrite(near, () => warningsOf(service).length > 2);
  t.match(warningsOf(service)[2], /alowed_hosts: unknown key/, 'a bad file between');
  const auth = { blocked_ips: ['127.0.0.66'] };
  const isBlocked = async () => (await ask(service.port, '/api/status', {}, '127.0.0.66')).status === 403;
  await rewrite({ power, features: { enable_shutdown: true }, auth }, isBlocked);
  t.ok(await isBlocked(), 'the last file is in effect');
  // The bad file may be reported twice: for its change, and for the signal.
  const notices = warningsOf(service).filter((line) => line.includes('anyone who can reach'));
  t.equal(notices.length, 2, 'the same is not said again');
});

t.test('[1.notice-open] not logged where it does not apply', async (t) => {
  const local = await serveProgram(t);
  t.same(warningsOf(local), [], 'loopback only');
  const guarded = await serveProgram(t, {
    host: '0.0.0.0',
    config: { auth: { enabled: true, api_key: KEY } },
  });
  t.same(warningsOf(guarded), [], 'auth on');
});

t.test('[1.keys-none] [1.keys-short] each is logged once', async (t) => {
  const none = await serveProgram(t, { host: '0.0.0.0', config: { auth: { enabled: true } } });
  t.same(warningsOf(none), [
    'hostwire error: auth.enabled is true and no key is configured, so no client can connect; "hostwire keygen" makes a key',
  ]);
  const short = await serveProgram(t, {
    host: '0.0.0.0',
    config: { auth: { enabled: true, api_key: 'short' } },
  });
  t.same(warningsOf(short), [
    'hostwire warn: auth.api_key has fewer than 32 characters; "hostwire keygen" makes a strong one',
  ]);
});

t.test('[1.addresses-host-bits] logged once, with its file and line', async (t) => {
  const service = await serveProgram(t, { config: { auth: { blocked_ips: ['10.0.0.1/8'] } } });
  t.same(warningsOf(service), [
    `hostwire warn: ${service.configFile}:1: auth.blocked_ips: 10.0.0.1/8 has bits set beyond its prefix; read as 10.0.0.0/8`,
  ]);
});
