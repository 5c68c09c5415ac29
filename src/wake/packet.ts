/** The packet that wakes a machine, and hardware addresses. Pure. */

const MAC = /^[0-9a-f]{2}([:-]?)[0-9a-f]{2}(?:\1[0-9a-f]{2}){4}$/iu;

/** Port of the discard service: nothing answers there. Network cards ignore the port. */
export const WAKE_PORT = 9;

/**
 * Parses "02:00:5e:10:00:00": six bytes in hex with colons, hyphens or nothing between; undefined if it is not the
 * address of one card.
 */
export function parseMac(text: string): string | undefined {
  if (!MAC.test(text)) return undefined;
  const digits = text.replaceAll(/[:-]/gu, '').toLowerCase();
  const isOfGroup = (Number.parseInt(digits.slice(0, 2), 16) & 1) === 1;
  if (isOfGroup || /^0+$/u.test(digits)) return undefined;
  return digits.match(/../gu)?.join(':');
}

/** Returns six bytes of ones, then the address 16 times: 102 bytes. `mac` as parseMac returns it. */
export function magicPacket(mac: string): Buffer {
  const address = Buffer.from(mac.replaceAll(':', ''), 'hex');
  return Buffer.concat([Buffer.alloc(6, 0xff), ...Array.from({ length: 16 }, () => address)]);
}
