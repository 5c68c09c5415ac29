/** Configuration, the commands beside `run`, and a start that fails: on Windows. */
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { DRIVE_C, MAIN, runNode, startOnWindows, windowsPath } from './wine.ts';

t.setTimeout(240_000);

const folder = path.join(DRIVE_C, 'ProgramData/hostwire');
const KEY = 'p'.repeat(32);

function writeMachineConfig(text: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'config.yaml'), text);
}

// Other tests may have a log beside it.
const clear = () => rmSync(path.join(folder, 'config.yaml'), { force: true });
t.teardown(clear);

t.test('C:\\ProgramData\\hostwire is the folder for it, whatever the variable says', async (t) => {
  writeMachineConfig(`auth:\n  enabled: true\n  api_key: ${KEY}\npower:\n  backend: record\n`);
  const env = { ProgramData: 'C:\\left\\here' };
  const check = await runNode([MAIN, 'check'], { env });
  t.equal(check.code, 0, check.stderr);
  t.match(check.stdout, 'C:\\ProgramData\\hostwire\\config.yaml');
  t.notMatch(check.stdout, KEY, 'the key is masked');

  const service = await startOnWindows({}, { args: [], env });
  const usage = (key: string) =>
    fetch(`${service.baseUrl}/api/usage`, { headers: { authorization: `Bearer ${key}` } });
  t.equal((await usage(KEY)).status, 200);
  t.equal((await usage('wrong')).status, 401);

  // Replaced by a rename, as editors do.
  const next = 'n'.repeat(32);
  writeFileSync(
    path.join(folder, 'next'),
    `auth:\n  enabled: true\n  api_key: ${next}\npower:\n  backend: record\n`,
  );
  renameSync(path.join(folder, 'next'), path.join(folder, 'config.yaml'));
  const limit = performance.now() + 15_000;
  while ((await usage(next)).status !== 200 && performance.now() < limit) await sleep(100);
  t.equal((await usage(next)).status, 200, 'the new key counts without a restart');
  t.equal((await usage(KEY)).status, 401, 'the old one no longer');
  t.equal((await service.stop()).code, 0);
});

t.test('a mistake stops the start with a message that names file, line and key', async (t) => {
  writeMachineConfig('stats:\n  stream_interval_seconds: often\n');
  const { code, stderr } = await runNode([MAIN, 'run', '--port', '0', '--host', '127.0.0.1']);
  t.equal(code, 1);
  t.match(stderr, /config\.yaml:2: stats\.stream_interval_seconds/);
  t.equal((await runNode([MAIN, 'check'])).code, 1);
  clear();
});

t.test('a port that is taken stops the start', async (t) => {
  const first = net.createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => first.once('listening', resolve));
  // A listening TCP socket has an address with a port.
  const { port } = first.address() as net.AddressInfo;
  const { code, stderr } = await runNode([MAIN, '--host', '127.0.0.1', '--port', String(port)]);
  t.equal(code, 1);
  t.match(stderr, String(port));
  first.close();
});

t.test('doctor, keygen, version, help', async (t) => {
  const file = path.join(DRIVE_C, 'doctor.json');
  writeFileSync(file, JSON.stringify({ server: { host: '127.0.0.1', port: 19_991 } }));
  t.teardown(() => rmSync(file));
  const [doctor, keygen, version, help] = await Promise.all([
    runNode([MAIN, 'doctor', '--config', windowsPath(file)]),
    runNode([MAIN, 'keygen']),
    runNode([MAIN, '--version']),
    runNode([MAIN, '--help']),
  ]);
  t.equal(doctor.code, 0, doctor.stdout + doctor.stderr);
  t.match(doctor.stdout, /^addon +ok/m);
  t.match(doctor.stdout, /^cpu +ok/m);
  t.match(doctor.stdout, /^memory +partly/m);
  t.match(doctor.stdout, /^disks +partly +C:, Z: from the mount manager$/m);
  t.notMatch(doctor.stdout, /\/proc|\/sys|coretemp|psi=|systemd|^unit/m, 'it speaks of Windows');
  t.match(keygen.stdout, /^[0-9a-f]{64}\n$/);
  t.match(version.stdout, /^0\.\d+\.\d+/);
  t.match(help.stdout, 'hostwire');
});
