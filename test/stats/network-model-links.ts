/** The interfaces of a model kernel: what they are, and what may be a member of what. */
import type { InterfaceKind } from '#src/host/host.js';

export type LinkType = 'nic' | 'netvsc' | 'veth' | 'bond' | 'team' | 'bridge' | 'vlan' | 'tunnel' | 'lo';

/** Bytes in each direction. */
export interface Bytes {
  sent: number;
  received: number;
}
export const noBytes = (): Bytes => ({ sent: 0, received: 0 });

export interface Link {
  index: number;
  name: string;
  readonly type: LinkType;
  master: Link | undefined;
  readonly lower: Link | undefined;
  sent: number;
  received: number;
  /** Its traffic since the last reading may be seen in part only: it was reset, or left or joined a master that counts. */
  isDisturbed: boolean;
  /** It was enslaved or released since the last reading. */
  hasMoved: boolean;
  /** Its counts in the last reading; 0 before the first. */
  read: Bytes;
}

export const KINDS: Readonly<Record<LinkType, InterfaceKind>> = {
  nic: 'ethernet',
  netvsc: 'ethernet',
  veth: 'other',
  bond: 'bond',
  team: 'other',
  bridge: 'bridge',
  vlan: 'vlan',
  tunnel: 'tunnel',
  lo: 'loopback',
};
export const isHardware = (link: Link) => link.type === 'nic' || link.type === 'netvsc';
const isMaster = (link: Link) => ['netvsc', 'bond', 'team', 'bridge'].includes(link.type);

export function outermostMaster(link: Link): Link | undefined {
  return link.master === undefined ? link : outermostMaster(link.master);
}

export function hasBelow(link: Link, port: Link): boolean {
  for (let at: Link | undefined = port; at !== undefined; at = at.master) if (at === link) return true;
  return false;
}

export function mayEnslave(master: Link, link: Link): boolean {
  if (!isMaster(master) || link.type === 'lo' || link.type === 'tunnel') return false;
  if (master.type === 'netvsc') return link.type === 'nic';
  if (master.type === 'bridge') return link.type !== 'bridge' && link.type !== 'vlan';
  return isHardware(link) || link.type === 'veth';
}
