/** The rows of `wake.hosts`. */
import { isIPv4 } from 'node:net';
import { parseMac, WAKE_PORT } from '../../wake/packet.ts';
import { type EntryOf, integer, namedRow, optional, row, text } from './row.ts';

/** The keys of one entry of `wake.hosts`. */
export const WAKE_KEYS = {
  mac: row(
    text(
      'the MAC address of a network card, such as "02:00:5e:10:00:00", in quotes',
      (mac) => parseMac(mac) !== undefined,
    ),
    '',
    'The MAC address of its network card, in quotes. Required.',
    { defaultInWords: 'required' },
  ),
  broadcast: optional(
    text('an IPv4 address, in quotes', isIPv4),
    'The only IPv4 address that its packet is sent to, such as the broadcast address of another network that a router lets through.',
    { defaultInWords: "each interface's own" },
  ),
  port: row(integer(1, 65_535), WAKE_PORT, 'The UDP port that its packet is sent to.'),
};

/** A machine that clients may wake by name (`wake.hosts`). */
export type WakeEntry = EntryOf<typeof WAKE_KEYS>;

export const WAKE_ROW = namedRow(
  { keys: WAKE_KEYS, required: 'mac', requires: 'a MAC address', short: 'mac' },
  'a map of names to MAC addresses or {mac, broadcast, port}',
  'Machines that may be woken by name: a MAC address, or the keys below.',
);
