/** The network files of a machine: what to write, and how to read them back. */
import { type InterfaceCounters, SECTION_BITS } from '#src/host/host.js';
import { type Entry, type Machine, readUntil, type Tree } from '../helpers/machine/tree.ts';

export const NETWORK = SECTION_BITS.network;
export const HEADER = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
`;

export function netDev(...names: readonly string[]): Tree {
  const rows = names.map(
    (name, at) => `${name.padStart(6)}: ${at + 1}00 ${at + 1} 2 3 0 0 0 9 ${at + 1}000 4 5 6 0 0 0 0\n`,
  );
  return { 'proc/net/dev': HEADER + rows.join('') };
}

/** /sys/class/net/NAME: numbers and texts become lines. */
export function link(name: string, files: Readonly<Record<string, string | number | Entry>>): Tree {
  const entries = Object.entries(files).map(([file, entry]) => [
    `sys/class/net/${name}/${file}`,
    typeof entry === 'string' || typeof entry === 'number' ? `${entry}\n` : entry,
  ]);
  return Object.fromEntries(entries);
}

export const DEVICE: Entry = { link: '../../../0000:00:1f.6' };
export const to = (name: string): Entry => ({ link: `../${name}` });
export const lo = link('lo', {
  type: 772,
  ifindex: 1,
  operstate: 'unknown',
  flags: '0x9',
  address: '00:00:00:00:00:00',
});
export const eth0 = link('eth0', { type: 1, ifindex: 2, device: DEVICE, operstate: 'up', speed: 1000 });

export function readLinks(machine: Machine): readonly InterfaceCounters[] {
  const counters = machine.host.readCounters(NETWORK, false, 0);
  if (counters.network == null) throw new Error(`no interfaces: ${JSON.stringify(counters.failures)}`);
  return counters.network;
}

/** "name kind index", then + for a device of its own, ^ and the index of the master, / and that of what it is on top of. */
export function facts(links: readonly InterfaceCounters[]): readonly string[] {
  return links.map((one) => {
    const device = one.hasDevice ? '+' : '';
    const master = one.masterIndex === 0 ? '' : `^${one.masterIndex}`;
    const lower = one.lowerIndex === 0 ? '' : `/${one.lowerIndex}`;
    return `${one.name} ${one.kind} ${one.index}${device}${master}${lower}`;
  });
}

export async function readDetail(
  machine: Machine,
  isAnswered: (links: readonly InterfaceCounters[]) => boolean,
) {
  const counters = await readUntil(machine.host, NETWORK, true, ({ network }) => isAnswered(network ?? []));
  const byName = new Map((counters.network ?? []).map((one) => [one.name, one]));
  return (name: string): InterfaceCounters => {
    const found = byName.get(name);
    if (found === undefined) throw new Error(`no interface ${name}`);
    return found;
  };
}
