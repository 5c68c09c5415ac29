/**
 * Packets that wake machines, on cables of a network namespace: what arrives at the far ends, byte for byte. Nothing
 * leaves the two namespaces, which have no other interface.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { reasonAgainstNamespace, WiredNamespace } from '../../helpers/machine/wired-namespace.ts';
import { emptyFolder } from '../../helpers/scope.ts';
import { DEAD_BUSES } from '../../helpers/service/dead-buses.ts';
import { serveProgram } from '../../helpers/service/service.ts';
import { until } from '../../helpers/until.ts';
import { listenAt, type Packet } from '../far-end.ts';

const MAIN = fileURLToPath(new URL('../../../../../dist/main.js', import.meta.url));
const MAC = '02:00:5e:10:ab:cd';
const MAGIC = `ffffffffffff${'02005e10abcd'.repeat(16)}`;
const skip = reasonAgainstNamespace();

const CONFIG = `wake:
  hosts:
    nas: "${MAC}"
    cellar: { mac: "02-00-5E-10-AB-CD", broadcast: 198.18.5.255, port: 7 }
`;

/** A file that any user may read. */
function writeConfig(t: Test): string {
  const folder = emptyFolder(t, 'wake');
  chmodSync(folder, 0o755);
  const file = path.join(folder, 'config.yaml');
  writeFileSync(file, CONFIG, { mode: 0o644 });
  return file;
}

const broadcastFrom = (from: string, address: string, port = 9): Packet => ({
  to: 'ffffffffffff',
  type: '0800',
  from,
  address,
  port,
  payload: MAGIC,
});

const thrice = <T>(packet: T): readonly T[] => [packet, packet, packet];

/** The kernel reports a link a moment after it is there. */
async function awaitLink(box: WiredNamespace, name: string): Promise<void> {
  await until(() => box.ip('link', 'show', name).includes('state UP'));
}

/** Two cables: a network of 254 addresses, added by hand as `ip` does it, and one of two. */
async function wire(t: Test): Promise<WiredNamespace> {
  const box = new WiredNamespace(t);
  box.plug('eth0', 'far0');
  box.plug('eth1', 'far1');
  await awaitLink(box, 'eth0');
  await awaitLink(box, 'eth1');
  box.ip('address', 'add', '198.18.1.1/24', 'dev', 'eth0');
  box.ip('address', 'add', '198.18.2.0/31', 'dev', 'eth1');
  return box;
}

/** Runs `hostwire wake` inside `box`; `user` with the rights of that user only. */
async function run(box: WiredNamespace, args: readonly string[], user?: number) {
  const drop = ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups'];
  const words = ['env', ...Object.entries(DEAD_BUSES).map((pair) => pair.join('=')), process.execPath];
  const [command = '', ...rest] = [...(user === undefined ? [] : drop), ...words, MAIN, 'wake', ...args];
  const child = box.spawn(command, ...rest);
  let stdout = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  const [code] = await once(child, 'close');
  return { code, stdout };
}

t.test('[3.wake-wire] three magic packets to the broadcast address of each network', { skip }, async (t) => {
  const box = await wire(t);
  const far = await listenAt(t, box, 'far0', 'far1');
  const everywhere = new Map([
    ['far0', thrice(broadcastFrom('198.18.1.1', '198.18.1.255'))],
    // A network of two addresses has no broadcast address of its own.
    ['far1', thrice(broadcastFrom('198.18.2.0', '255.255.255.255'))],
  ]);
  const { code, stdout } = await run(box, [MAC]);
  t.equal(code, 0);
  t.equal(stdout, `sent packets for ${MAC} to 198.18.1.255 (eth0), 255.255.255.255 (eth1)\n`);
  t.strictSame(await far.take(6), everywhere, 'a MAC address');

  const config = ['--config', writeConfig(t)];
  t.match(await run(box, ['nas', ...config]), { code: 0 });
  t.strictSame(await far.take(6), everywhere, 'a name of the configuration');

  t.match(await run(box, [MAC], 54321), { code: 0 });
  t.strictSame(await far.take(6), everywhere, 'an ordinary user');

  box.ip('link', 'set', 'eth1', 'down');
  const report = JSON.parse((await run(box, ['nas', '--json', ...config])).stdout);
  t.strictSame(report, {
    host: 'nas',
    mac: MAC,
    targets: [{ interface: 'eth0', address: '198.18.1.255', port: 9, packets: 3, error: null }],
    error: null,
  });
  t.strictSame((await far.take(3)).get('far1'), [], 'an interface that is down is left out');
});

t.test('[3.wake-address] the only address of an entry, or of --broadcast', { skip }, async (t) => {
  const box = await wire(t);
  const far = await listenAt(t, box, 'far0', 'far1');
  const config = ['--config', writeConfig(t)];
  const report = JSON.parse((await run(box, ['cellar', '--json', ...config])).stdout);
  const unreachable = 'ENETUNREACH: no route to the network';
  t.match(report.targets, [{ address: '198.18.5.255', port: 7, packets: 0, error: unreachable }]);
  t.equal(report.error, `198.18.5.255: ${unreachable}`);

  box.ip('address', 'add', '198.18.5.1/24', 'dev', 'eth1');
  t.match(await run(box, ['cellar', ...config]), { code: 0 });
  const packets = thrice(broadcastFrom('198.18.5.1', '198.18.5.255', 7));
  t.strictSame((await far.take(3)).get('far1'), packets, 'with the port of the entry');

  const { code } = await run(box, ['cellar', '--broadcast', '198.18.1.255', ...config]);
  t.equal(code, 0);
  t.strictSame((await far.take(3)).get('far0'), thrice(broadcastFrom('198.18.1.1', '198.18.1.255', 7)));
});

t.test('[3.wake-refused] the reason where nothing can be sent', { skip }, async (t) => {
  const box = await wire(t);
  const far = await listenAt(t, box, 'far0', 'far1');
  box.nft('add table inet wall');
  box.nft('add chain inet wall output { type filter hook output priority 0; policy drop; }');
  const forbidden = "EPERM: blocked by a firewall or by this service's sandbox";
  t.strictSame(await run(box, [MAC]), {
    code: 1,
    stdout: `no packets sent: 198.18.1.255 (eth0): ${forbidden}; 255.255.255.255 (eth1): ${forbidden}\n`,
  });
  box.nft('delete table inet wall');
  box.ip('link', 'set', 'eth0', 'down');
  box.ip('address', 'flush', 'dev', 'eth1');
  t.strictSame(await run(box, [MAC]), {
    code: 1,
    stdout: 'no packets sent: no interface has a link and an IPv4 broadcast address\n',
  });
  box.ip('link', 'set', 'eth0', 'up');
  await awaitLink(box, 'eth0');
  t.match(await run(box, [MAC]), { code: 0 });
  t.equal((await far.take(3)).get('far0')?.length, 3, 'nothing had arrived before');
});

t.test('[3.wake-wire] the service, asked over HTTP inside the namespace', { skip }, async (t) => {
  const box = await wire(t);
  const far = await listenAt(t, box, 'far0', 'far1');
  const service = await serveProgram(t, {
    config: { features: { enable_wake: true }, wake: { hosts: { nas: { mac: MAC, port: 9 } } } },
    start: (command, args, how) => spawn('ip', [...box.inside, command, ...args], how),
  });
  const curl = box.spawn('curl', '--silent', '--json', '{"host":"nas"}', `${service.baseUrl}/api/wake`);
  const [text] = curl.stdout === null ? [] : await once(curl.stdout, 'data');
  t.match(JSON.parse(String(text)), {
    success: true,
    targets: [
      { interface: 'eth0', address: '198.18.1.255', packets: 3 },
      { interface: 'eth1', address: '255.255.255.255', packets: 3 },
    ],
  });
  const arrived = await far.take(6);
  t.strictSame(arrived.get('far0'), thrice(broadcastFrom('198.18.1.1', '198.18.1.255')));
  t.strictSame(arrived.get('far1'), thrice(broadcastFrom('198.18.2.0', '255.255.255.255')));
});

/** The program of the Debian package of that name. */
const ETHERWAKE = '/usr/sbin/etherwake';
const withoutWitness = skip || (existsSync(ETHERWAKE) ? false : 'needs etherwake');

t.test('[3.wake-wire] etherwake sends the same bytes', { skip: withoutWitness }, async (t) => {
  const box = await wire(t);
  const far = await listenAt(t, box, 'far0');
  const [code] = await once(box.spawn(ETHERWAKE, '-i', 'eth0', '-b', MAC), 'close');
  t.equal(code, 0);
  const [packet] = (await far.take(1)).get('far0') ?? [];
  t.match(packet, { to: 'ffffffffffff', type: '0842', payload: MAGIC });
});
