/** Whether network cards wait for a packet, and where packets for others go: drivers and this kernel. */
import '../../helpers/service/dead-buses.ts';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { openNativeHost } from '#src/host/native.js';
import type { BroadcastAddress, WakeOnLan } from '#src/host/wake.js';
import { reasonAgainstNamespace, WiredNamespace } from '../../helpers/machine/wired-namespace.ts';
import { programPath, whyNoProgram } from '../../helpers/native/program.ts';
import { emptyFolder } from '../../helpers/scope.ts';
import { until } from '../../helpers/until.ts';

const run = promisify(execFile);
const MODULE = import.meta.resolve('#src/host/native.js');

/**
 * A program that prints the method's result, how often the event loop turned during the call, and how many threads five
 * further calls have added.
 */
const program = (method: 'readWakeOnLan' | 'readBroadcastAddresses') => `
  const { readdirSync } = await import('node:fs');
  const { openNativeHost } = await import('${MODULE}');
  const host = openNativeHost();
  let turns = 0;
  setInterval(() => turns++, 10).unref();
  const result = await host.${method}();
  const countThreads = () => readdirSync('/proc/self/task').length;
  const threads = countThreads();
  for (let i = 0; i < 5; i++) await host.${method}();
  console.log(JSON.stringify({ result, turns, added: countThreads() - threads }));
`;

const unasked = { supported: null, armed: null };

/** Runs the program where /sys/class/net has `names`, whose drivers wol_card.c plays. */
async function readPlayed(t: Test, cards: Readonly<Record<string, string>>) {
  const folder = emptyFolder(t, 'cards');
  for (const [name, runtime] of Object.entries(cards)) {
    const power = path.join(folder, name, 'device/power');
    mkdirSync(power, { recursive: true });
    writeFileSync(path.join(power, 'wakeup'), 'disabled\n');
    writeFileSync(path.join(power, 'runtime_status'), `${runtime}\n`);
  }
  const script = 'mount --bind "$0" /sys/class/net && exec "$@"';
  const words = [process.execPath, '--input-type=module', '-e', program('readWakeOnLan')];
  const { stdout } = await run('unshare', ['--mount', 'sh', '-c', script, folder, ...words], {
    env: { ...process.env, LD_PRELOAD: programPath('wol_card.so') },
  });
  return JSON.parse(stdout) as {
    readonly result: readonly WakeOnLan[];
    readonly turns: number;
    readonly added: number;
  };
}

const noRoot = process.getuid?.() === 0 ? false : 'needs root, for a mount namespace';
const skipPlayed = noRoot || whyNoProgram('wol_card.so');

t.test('[3.wake-on-lan-card] the answers of the card itself', { skip: skipPlayed }, async (t) => {
  const names = ['asked0', 'gone0', 'magic0', 'none0', 'off0', 'root0'];
  const cards = Object.fromEntries(names.map((name) => [name, name === 'asked0' ? 'suspended' : 'active']));
  const { result } = await readPlayed(t, cards);
  const everything = ['phy', 'unicast', 'multicast', 'broadcast', 'arp', 'magic', 'secureon', 'filter'];
  t.strictSame(result, [
    {
      name: 'asked0',
      isEnabled: false,
      ...unasked,
      failure: 'the card is suspended, and asking its driver would wake it',
    },
    { name: 'gone0', isEnabled: false, ...unasked, failure: 'the driver did not answer: ENODEV' },
    { name: 'magic0', isEnabled: true, supported: everything, armed: ['phy', 'magic'], failure: null },
    { name: 'none0', isEnabled: false, ...unasked, failure: 'the driver has no Wake-on-LAN' },
    { name: 'off0', isEnabled: false, supported: ['magic'], armed: [], failure: null },
    {
      name: 'root0',
      isEnabled: false,
      ...unasked,
      failure: 'the driver answers only to a process with CAP_NET_ADMIN',
    },
  ]);
});

t.test(
  '[3.wake-on-lan-held] a lock that is held costs the answer of the cards, and no more',
  { skip: skipPlayed },
  async (t) => {
    const { result, turns, added } = await readPlayed(t, { hang0: 'active', magic0: 'active' });
    t.strictSame(
      result.map(({ name, isEnabled, failure }) => [name, isEnabled, failure]),
      ['hang0', 'magic0'].map((name) => [name, false, 'the driver did not answer within a second']),
    );
    t.ok(added < 4, `and no further thread hangs: ${added}`);
    t.ok(turns > 3, `the event loop went on: ${turns} turns`);
  },
);

t.test('[3.wake-on-lan-card] the drivers of this machine, as root and as an ordinary user', async (t) => {
  const cards = await openNativeHost().readWakeOnLan();
  if (cards.length === 0 || noRoot !== false) {
    t.pass('no card', { skip: noRoot || 'not a network card' });
    return;
  }
  for (const { name, failure } of cards)
    t.not(failure, 'the driver answers only to a process with CAP_NET_ADMIN', name);
  const words = ['--reuid=65534', '--regid=65534', '--clear-groups', process.execPath];
  const { stdout } = await run('setpriv', [...words, '--input-type=module', '-e', program('readWakeOnLan')]);
  for (const { name, failure, supported } of JSON.parse(stdout).result as readonly WakeOnLan[]) {
    const file = `/sys/class/net/${name}/device/power/runtime_status`;
    if (readFileSync(file, 'utf8') === 'suspended\n') continue;
    t.equal(failure, 'the driver answers only to a process with CAP_NET_ADMIN', name);
    t.equal(supported, null);
  }
});

t.test(
  '[3.wake-interfaces] the interfaces that can broadcast',
  { skip: reasonAgainstNamespace() },
  async (t) => {
    const box = new WiredNamespace(t);
    box.plug('eth0', 'far0');
    box.plug('eth1', 'far1');
    box.plug('eth2', 'far2');
    box.ip('address', 'add', '198.18.1.1/24', 'dev', 'eth0', 'label', 'eth0:1');
    box.ip('address', 'add', '198.18.1.9/30', 'dev', 'eth0');
    box.ip('address', 'add', '198.18.2.1/16', 'broadcast', '+', 'dev', 'eth1');
    box.ip('address', 'add', '198.18.3.1/32', 'dev', 'eth1');
    // Down; without a link; without an address of IPv4; to one peer only.
    box.ip('address', 'add', '198.18.4.1/24', 'dev', 'eth2');
    box.ip('link', 'set', 'eth2', 'down');
    box.ip('link', 'add', 'alone0', 'type', 'veth', 'peer', 'name', 'alone1');
    box.ip('address', 'add', '198.18.5.1/24', 'dev', 'alone0');
    box.ip('link', 'set', 'alone0', 'up');
    box.plug('eth3', 'far3');
    box.ip('tuntap', 'add', 'tun0', 'mode', 'tun');
    box.ip('address', 'add', '198.18.6.1/24', 'dev', 'tun0');
    box.ip('link', 'set', 'tun0', 'up');
    // The kernel reports a link a moment after it is there.
    await until(() => box.ip('link', 'show', 'eth1').includes('state UP'));
    const child = box.spawn(process.execPath, '--input-type=module', '-e', program('readBroadcastAddresses'));
    const [text] = child.stdout === null ? [] : await once(child.stdout, 'data');
    const found = (JSON.parse(String(text)).result as readonly BroadcastAddress[]).map(
      ({ name, address, broadcast }) => `${name} ${address} ${broadcast}`,
    );
    t.strictSame(found.sort(), [
      'eth0 198.18.1.1 198.18.1.255',
      'eth0 198.18.1.9 198.18.1.11',
      'eth1 198.18.2.1 198.18.255.255',
      'eth1 198.18.3.1 null',
    ]);
  },
);
