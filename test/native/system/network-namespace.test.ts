/** The totals in a network namespace, which has no hardware, against what the far ends of its cables counted. */
import { once } from 'node:events';
import path from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import t, { type Test } from 'tap';
import type { InterfaceCounters } from '#src/host/host.js';
import { type Bytes, reasonAgainstNamespace, WiredNamespace } from '../../helpers/machine/wired-namespace.ts';

const PROGRAM = path.join(import.meta.dirname, 'network-reader.js');
/** A packet of 1000 bytes on the wire: with the headers of UDP, IPv4 and Ethernet. */
const BYTES = 1000 - 8 - 20 - 14;
const PACKETS = 50;

interface Reading {
  readonly totals: Bytes;
  readonly links: readonly InterfaceCounters[];
  /** File reads on the JavaScript thread. */
  readonly reads: number;
}

/** Reads inside `box`, in one process that lives as long as the test. */
function readerIn(t: Test, box: WiredNamespace): (what?: 'detail') => Promise<Reading> {
  const reader = box.spawn(process.execPath, PROGRAM);
  t.teardown(() => reader.stdin?.end());
  if (reader.stdout === null) throw new Error('no output');
  const lines = createInterface({ input: reader.stdout });
  return async (what) => {
    const line = once(lines, 'line');
    reader.stdin?.write(`${what ?? ''}\n`);
    const { totals, links, reads } = JSON.parse(String((await line)[0]));
    return { totals: { sent: totals.bytesSent, received: totals.bytesRecv }, links, reads };
  };
}

/** Pairs of interfaces that make them too many to be read on the JavaScript thread. */
const MANY = 12;

for (const pairs of [0, MANY])
  t.test(
    `[3.network-which] [3.network-monotonic] the totals are what the cables carried, whatever is built on them, beside ${pairs} pairs`,
    { skip: reasonAgainstNamespace() },
    async (t) => {
      const box = new WiredNamespace(t);
      box.plug('eth0', 'far0');
      if (pairs > 0) box.crowd(pairs);
      const readAll = readerIn(t, box);
      const read = async () => (await readAll()).totals;
      t.strictSame(await read(), { sent: 0, received: 0 });
      const link = (...args: readonly string[]) => box.ip('link', ...args);

      /** After `change`, packets through `name` are carried once per cable in `cables`. */
      const step = async (what: string, name: string, change: () => void, cables = 1) => {
        const before = await read();
        t.strictSame(before, box.carried(), `before: ${what}`);
        change();
        t.strictSame(await read(), before, `${what}: nothing was sent`);
        box.send(name, PACKETS, BYTES);
        const after = await read();
        t.strictSame(after, box.carried(), what);
        t.ok(after.sent - before.sent >= cables * PACKETS * 1000, `${what}: all packets were sent`);
      };

      await step('one cable', 'eth0', () => undefined);
      await step('renamed', 'wan0', () => {
        link('set', 'eth0', 'down');
        link('set', 'eth0', 'name', 'wan0');
        link('set', 'wan0', 'up');
      });
      await step('in a bridge', 'br0', () => {
        link('add', 'br0', 'type', 'bridge', 'mcast_snooping', '0');
        link('set', 'wan0', 'master', 'br0');
        link('set', 'br0', 'up');
      });
      await step(
        'a second cable in the bridge, which floods',
        'br0',
        () => {
          box.plug('eth1', 'far1');
          link('set', 'eth1', 'master', 'br0');
        },
        2,
      );
      await step('released', 'wan0', () => link('set', 'wan0', 'nomaster'));
      await step('a MACVLAN on top', 'mv0', () => {
        link('add', 'mv0', 'link', 'wan0', 'type', 'macvlan');
        link('set', 'mv0', 'up');
      });
      await step('created again under its name', 'eth1', () => {
        box.unplug('eth1', 'far1');
        box.plug('eth1', 'far2');
      });
      await step('the bridge is gone', 'wan0', () => link('delete', 'br0'));
      // From files to the prober and back, or the other way round.
      const turns = [() => box.crowd(MANY), () => box.disperse()];
      for (const turn of pairs === 0 ? turns : turns.reverse()) await step('more or fewer', 'wan0', turn);
      if (box.canHave('vlan', 'link', 'wan0')) {
        await step('a VLAN on top', 'wan0.7', () => {
          link('add', 'wan0.7', 'link', 'wan0', 'type', 'vlan', 'id', '7');
          link('set', 'wan0.7', 'up');
        });
      } else t.comment('no VLAN: this kernel has no 8021q');
      if (box.canHave('bond')) {
        await step('a bond of two', 'bond0', () => {
          link('add', 'bond0', 'type', 'bond', 'mode', 'balance-rr');
          for (const name of ['wan0', 'eth1']) {
            link('set', name, 'down');
            link('set', name, 'master', 'bond0');
          }
          link('set', 'bond0', 'up');
        });
      } else t.comment('no bond: this kernel has no bonding');
    },
  );

for (const pairs of [0, MANY])
  t.test(
    `a change that leaves the names as they are is in the next reading, beside ${pairs} pairs`,
    { skip: reasonAgainstNamespace() },
    async (t) => {
      const box = new WiredNamespace(t);
      box.plug('eth0', 'far0');
      if (pairs > 0) box.crowd(pairs);
      box.ip('link', 'add', 'br0', 'type', 'bridge');
      const read = readerIn(t, box);
      const find = async (name: string) => (await read()).links.find((link) => link.name === name);
      const bridge = await find('br0');
      t.match(await find('eth0'), { masterIndex: 0, lowerIndex: 0 });
      box.ip('link', 'set', 'eth0', 'master', 'br0');
      t.match(await find('eth0'), { masterIndex: bridge?.index });
      box.ip('link', 'set', 'eth0', 'nomaster');
      t.match(await find('eth0'), { masterIndex: 0 });
      // The last one in the list: the order of the names does not change either.
      box.ip('link', 'delete', 'br0');
      box.ip('link', 'add', 'br0', 'type', 'bridge');
      const successor = await find('br0');
      t.ok(bridge !== undefined && successor !== undefined && successor.index > bridge.index, 'a new index');
    },
  );

t.test(
  'a reading of 600 interfaces reads no file on the JavaScript thread, whatever has changed',
  { skip: reasonAgainstNamespace() },
  async (t) => {
    const box = new WiredNamespace(t);
    box.plug('eth0', 'far0');
    box.ip('address', 'add', '198.18.0.1/24', 'dev', 'eth0');
    const read = readerIn(t, box);
    const few = await read();
    t.ok(few.reads > 0, `two are read from ${few.reads} files`);
    box.crowd(300);
    const noticed = await read();
    t.ok(noticed.reads <= 8, `that they are many is found by ${noticed.reads} reads`);
    const steps = {
      'nothing has changed': () => undefined,
      'one is renamed': () => box.ip('link', 'set', 'c7', 'name', 'x7'),
      'one is created': () => box.ip('link', 'add', 'br0', 'type', 'bridge'),
      'one is a member': () => box.ip('link', 'set', 'c9', 'master', 'br0'),
    };
    for (const [what, change] of Object.entries(steps)) {
      change();
      const { links, reads } = await read();
      t.equal(reads, 0, what);
      t.ok(links.length > 600, `${links.length} interfaces`);
    }
    const { links, reads } = await read('detail');
    t.ok(reads <= 0, 'with detail');
    const of = (name: string) => links.find((link) => link.name === name);
    t.match(of('eth0'), { isUp: true, mac: /^(?:..:){5}..$/, addresses: ['198.18.0.1'] });
    t.match([of('lo')?.kind, of('br0')?.kind], ['loopback', 'bridge']);
    t.equal(of('c9')?.masterIndex, of('br0')?.index);
    t.equal(of('x7')?.isUp, false);
  },
);
