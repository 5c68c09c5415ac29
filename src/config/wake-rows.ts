/** The rows of `wake.hosts`. */
import { isIPv4 } from 'node:net';
import * as v from 'valibot';
import { parseMac, WAKE_PORT } from '../wake/packet.ts';
import { configRow, namedRow, type Row } from './rows.ts';

/** A machine that clients may wake by name (`wake.hosts`). */
export interface WakeEntry {
  readonly mac: string;
  readonly broadcast?: string;
  readonly port: number;
}

const MAC = v.pipe(
  v.string(),
  v.check((text) => parseMac(text) !== undefined),
);

/** The keys of one entry of `wake.hosts`. */
export const WAKE_KEYS = {
  mac: configRow(MAC, '', {
    type: 'string',
    expected: 'the MAC address of a network card, such as "02:00:5e:10:00:00", in quotes',
    meaning: 'The MAC address of its network card, in quotes. Required.',
    defaultInWords: 'required',
  }),
  broadcast: configRow<string | undefined>(v.pipe(v.string(), v.check(isIPv4)), undefined, {
    type: 'string',
    expected: 'an IPv4 address, in quotes',
    meaning:
      'The only IPv4 address that its packet is sent to, such as the broadcast address of another network that a router lets through.',
    defaultInWords: "each interface's own",
  }),
  port: configRow(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65_535)), WAKE_PORT, {
    type: 'integer',
    expected: 'a whole number from 1 to 65535',
    meaning: 'The UDP port that its packet is sent to.',
  }),
};

export const WAKE_ROW: Row<Readonly<Record<string, WakeEntry>>> = namedRow<WakeEntry>(
  { keys: WAKE_KEYS, required: 'mac', requires: 'a MAC address', short: 'mac' },
  {
    expected: 'a map of names to MAC addresses or {mac, broadcast, port}',
    meaning: 'Machines that may be woken by name: a MAC address, or the keys below.',
  },
);
