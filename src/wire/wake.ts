/** Waking machines on the wire: the result of the command, and the machines that can be woken. */
import * as v from 'valibot';
import { capability } from './capability.ts';
import { means } from './meaning.ts';
import type { DocsOf } from './operation-docs.ts';
import { count, known, type Shape } from './quantities.ts';
import { wakeRequest } from './requests.ts';

/** The target of a packet. */
export const wakeTarget = v.strictObject({
  interface: means(
    known(v.string()),
    'The outgoing interface; null for a `broadcast` in the configuration, which the routes decide.',
  ),
  address: means(v.string(), 'The broadcast address.'),
  port: means(count, 'The UDP port.'),
  packets: means(count, 'Number of packets sent.'),
  error: means(known(v.string()), 'Reason for not sending some or all packets.'),
});
export type WakeTarget = Shape<typeof wakeTarget>;

/** The machine, and the targets of its packets; also part of the feedback over /api/ws. */
export const wakeSubject = {
  name: means(v.string(), 'The name in the configuration.'),
  mac: means(v.string(), 'The MAC address in the packet.'),
  targets: means(v.array(wakeTarget), 'Destinations, one entry per interface.'),
};

export const wakeFeedback = v.strictObject({
  by: means(
    v.exactOptional(v.string()),
    'Of a hub that was asked to wake one of its machines: the machine that did.',
  ),
  success: means(v.boolean(), 'At least one packet was sent. Whether the machine wakes is not confirmed.'),
  action: means(v.literal('wake'), 'The requested command.'),
  message: means(v.string(), 'A sentence for people.'),
  final: means(v.boolean(), 'Always true over HTTP.'),
  ...wakeSubject,
});
export type WakeFeedback = Shape<typeof wakeFeedback>;

export const wakeCapability = v.strictObject({
  ...capability.entries,
  hosts: means(v.array(v.string()), 'The names that can be woken; empty while the flag is off.'),
});
export type WakeCapability = Shape<typeof wakeCapability>;

/** Wake-on-LAN of a network card of this machine. */
export const wakeOnLan = v.strictObject({
  enabled: means(v.boolean(), "Whether the card's wake events wake this machine."),
  supported: means(
    known(v.array(v.string())),
    'The wake events that the card supports: phy, unicast, multicast, broadcast, arp, magic, secureon, filter; null where only the power setting could be read.',
  ),
  armed: means(known(v.array(v.string())), 'The enabled ones; `magic` is the packet of Wake-on-LAN.'),
});

export const WAKE_DOCS: DocsOf<'wake'> = {
  wake: {
    summary: 'Wake another machine of this network',
    description:
      "Its flag is off by default. `host` is a name from `wake.hosts`. A magic packet (Wake-on-LAN) is sent three times within 0.2 s to the broadcast address of every interface that is up, or to the entry's own; the answer lists them. An unknown name is answered with 404 `not_found` and the known ones; where no packet could be sent, 409 `not_possible_now` (no interface, or eight others are being woken) or 500 `action_failed` with the reason of each interface.",
    body: wakeRequest,
    payloads: [wakeFeedback],
    errors: [
      'missing_field',
      'invalid_value',
      'not_found',
      'not_possible_now',
      'action_failed',
      'not_supported',
    ],
    example: { body: { host: 'nas' } },
  },
};
