/**
 * A model of a kernel's network interfaces: which ones count a byte on its way, what happens to counters when interfaces
 * are made, moved and removed. It knows nothing of the rule that it is to judge: it notes what passed each outermost
 * interface, once.
 */
import type { InterfaceCounters } from '#src/host/host.js';
import type { Random } from '../helpers/random.ts';
import {
  type Bytes,
  hasBelow,
  isHardware,
  KINDS,
  type Link,
  type LinkType,
  mayEnslave,
  noBytes,
  outermostMaster,
} from './network-model-links.ts';

export class ModelKernel {
  readonly links: Link[] = [];
  /** Ports that were moved to another network namespace. */
  readonly #away: Link[] = [];
  readonly #random: Random;
  #nextIndex = 1;
  #nextName = 0;
  /** Since the last reading: what hardware carried, and what all ports did. */
  byHardware: Bytes = noBytes();
  byPorts: Bytes = noBytes();
  /** Traffic of links that were disturbed or removed: a reading may miss it. */
  unseen: Bytes = noBytes();

  constructor(random: Random) {
    this.#random = random;
    this.add('lo');
  }

  add(type: LinkType, lower?: Link): Link {
    const index = this.#nextIndex++;
    const name = `${type}${this.#nextName++}`;
    const link = {
      index,
      name,
      type,
      master: undefined,
      lower,
      sent: 0,
      received: 0,
      isDisturbed: false,
      hasMoved: false,
      read: noBytes(),
    };
    this.links.push(link);
    return link;
  }

  read(): readonly InterfaceCounters[] {
    return this.links.map((link) => ({
      name: link.name,
      index: link.index,
      kind: KINDS[link.type],
      hasDevice: isHardware(link),
      masterIndex: link.master?.index ?? 0,
      lowerIndex: link.lower?.index ?? 0,
      sentBytes: link.sent,
      receivedBytes: link.received,
    }));
  }

  /** A reading has been compared with what was carried: the next one begins. */
  beginReading(): void {
    this.byHardware = noBytes();
    this.byPorts = noBytes();
    this.unseen = noBytes();
    for (const link of this.links) {
      link.isDisturbed = false;
      link.hasMoved = false;
      link.read = { sent: link.sent, received: link.received };
    }
  }

  /** Sends or receives a packet on a port, and everywhere above it. */
  carry(): void {
    // Traffic below a netvsc interface also counts there: both are one port.
    const ports = this.links.filter((link) => isHardware(link) || link.type === 'veth');
    if (ports.length === 0) return;
    const port = this.#random.pick(ports);
    const direction = this.#random.pick(['sent', 'received'] as const);
    const bytes = this.#random.below(this.#random.below(10) === 0 ? 1e9 : 1500);
    this.#pass(port, direction, bytes);
    const tunnels = this.links.filter((link) => link.type === 'tunnel');
    if (tunnels.length > 0 && this.#random.below(3) === 0) this.#random.pick(tunnels)[direction] += bytes;
    // A bridge counts what the machine sends through it, also if it has no port to send it on.
    const empty = this.links.find(
      (link) => link.type === 'bridge' && !this.links.some((one) => one.master === link),
    );
    if (empty !== undefined && this.#random.below(3) === 0) empty.sent += bytes;
    const bridge = outermostMaster(port);
    if (bridge?.type !== 'bridge' || direction === 'sent') return;
    // Forwarded instead of delivered: the bridge itself does not count it.
    const others = this.links.filter((link) => link.master === bridge && !hasBelow(link, port));
    const other = others.find((link) => isHardware(link) || link.type === 'veth');
    if (other !== undefined) this.#pass(other, 'sent', bytes);
  }

  #pass(port: Link, direction: keyof Bytes, bytes: number): void {
    const isSeenWhole = this.#count(port, direction, bytes);
    this.byPorts[direction] += bytes;
    if (isHardware(port)) this.byHardware[direction] += bytes;
    if (!isSeenWhole) this.unseen[direction] += bytes;
  }

  /** Counts at `link`, its masters and, sometimes, what is on top. False if one that counts was disturbed. */
  #count(link: Link, direction: keyof Bytes, bytes: number): boolean {
    link[direction] += bytes;
    const { master } = link;
    let isSeenWhole = !link.isDisturbed;
    if (master !== undefined && master.type !== 'bridge') {
      const isMasterWhole = this.#count(master, direction, bytes);
      isSeenWhole &&= isMasterWhole || !isHardware(master);
    } else if (master !== undefined && this.#random.below(2) === 0) {
      master[direction] += bytes;
    }
    for (const upper of this.links)
      if (upper.lower === link && this.#random.below(2) === 0) this.#count(upper, direction, bytes);
    return isSeenWhole;
  }

  /** One random event that is not traffic. */
  change(): void {
    const events = [
      () => this.#plug(),
      () => this.#enslave(),
      () => this.#release(),
      () => this.#rename(),
      () => this.#reset(this.#random.pick(this.links)),
      () => this.#suspend(),
      () => this.#remove(),
      () => this.#moveAway(),
      () => this.#moveBack(),
    ];
    this.#random.pick(events)();
  }

  #plug(): void {
    if (this.links.length > 14) return;
    const types = ['nic', 'netvsc', 'veth', 'veth', 'bond', 'team', 'bridge', 'vlan', 'tunnel'] as const;
    const type = this.#random.pick(types);
    if (type !== 'vlan') {
      const link = this.add(type);
      // From another network namespace, or busy before anyone looked.
      if (type === 'nic') this.#noteMeanwhile(link, this.#random.below(3) * 1e6);
      return;
    }
    this.add(
      type,
      this.#random.pick(this.links.filter((link) => link.type !== 'lo').concat(this.add('veth'))),
    );
  }

  /** A port in anything; a bond or VLAN in a bridge. A membership changes once per reading: readings see no more. */
  #enslave(): void {
    const link = this.#random.pick(this.links);
    if (link.master !== undefined || link.hasMoved) return;
    const masters = this.links.filter((other) => other !== link && mayEnslave(other, link));
    if (masters.length === 0) return;
    link.master = this.#random.pick(masters);
    link.hasMoved = true;
    if (isHardware(link.master)) this.#disturb(link);
  }

  #release(): void {
    const link = this.#random.pick(this.links);
    if (link.master === undefined || link.hasMoved) return;
    link.hasMoved = true;
    if (isHardware(link.master)) this.#disturb(link);
    link.master = undefined;
  }

  #rename(): void {
    const [one, other] = [this.#random.pick(this.links), this.#random.pick(this.links)];
    [one.name, other.name] = [other.name, one.name];
  }

  /** Hardware may lose its counters. */
  #suspend(): void {
    for (const link of this.links) if (isHardware(link) && this.#random.below(2) === 0) this.#reset(link);
  }

  #reset(link: Link): void {
    this.#disturb(link);
    link.sent = 0;
    link.received = 0;
  }

  #remove(): void {
    const link = this.#random.pick(this.links);
    if (link.type === 'lo' || link.isDisturbed) return;
    this.#take(link);
  }

  #moveAway(): void {
    const ports = this.links.filter((link) => link.type === 'nic' && !link.isDisturbed);
    if (ports.length === 0 || this.#away.length > 3) return;
    const link = this.#random.pick(ports);
    this.#take(link);
    this.#away.push(link);
  }

  #moveBack(): void {
    const link = this.#away.shift();
    if (link === undefined) return;
    this.#noteMeanwhile(link, this.#random.below(10_000));
    this.links.push(link);
    this.#disturb(link);
  }

  /** All that it has carried since it was last read is news in the next reading, `bytes` more included. */
  #noteMeanwhile(link: Link, bytes: number): void {
    for (const direction of ['sent', 'received'] as const) {
      link[direction] += bytes;
      const news = link[direction] - link.read[direction];
      this.byHardware[direction] += news;
      this.byPorts[direction] += news;
    }
  }

  /** Removes a link with all that is on top of it; its members are released. */
  #take(link: Link): void {
    for (const upper of this.links.filter((other) => other.lower === link)) this.#take(upper);
    for (const member of this.links.filter((other) => other.master === link)) {
      if (isHardware(link)) this.#disturb(member);
      member.master = undefined;
    }
    this.#disturb(link);
    link.master = undefined;
    this.links.splice(this.links.indexOf(link), 1);
  }

  /** Traffic until now, and until the next reading, may be missed. */
  #disturb(link: Link): void {
    link.isDisturbed = true;
    this.unseen.sent += this.byPorts.sent;
    this.unseen.received += this.byPorts.received;
  }
}
