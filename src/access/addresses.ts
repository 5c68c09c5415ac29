/** Addresses and address lists: parsed once and strictly, matched without allocating. */
import ipaddr from 'ipaddr.js';
import { REMEMBERED } from '../fairness/limits.ts';

/** One address. An IPv4-mapped IPv6 address is stored as the IPv4 address it stands for. */
export interface Address {
  /** 32-bit words, most significant first: one for IPv4, four for IPv6. */
  readonly words: readonly number[];
  /** Canonical: dotted decimal, or the compressed form of RFC 5952. */
  readonly text: string;
}

interface Network {
  /** The first address, in words of 32 bits. */
  readonly words: readonly number[];
  readonly prefix: number;
}

/** The networks of a family are disjoint, and sorted by their first addresses. */
export interface AddressRules {
  readonly hasWildcard: boolean;
  readonly v4: readonly Network[];
  readonly v6: readonly Network[];
}

/** A checked list: the entries as written, and the networks they name. */
export interface AddressList {
  readonly entries: readonly string[];
  readonly rules: AddressRules;
}

const MAPPED_PREFIX = 96;

function toWords(parts: readonly number[], bitsPerPart: 8 | 16): number[] {
  const perWord = 32 / bitsPerPart;
  const words: number[] = [];
  for (let at = 0; at < parts.length; at += perWord) {
    let word = 0;
    // Multiplied, not shifted: a shift would turn the upper half of the range negative.
    for (const part of parts.slice(at, at + perWord)) word = word * 2 ** bitsPerPart + part;
    words.push(word);
  }
  return words;
}

function isMapped(words: readonly number[]): boolean {
  return words.length === 4 && words[0] === 0 && words[1] === 0 && words[2] === 0xffff;
}

/**
 * Rewrites the dotted tail of an IPv6 address as two hexadecimal groups, so that ipaddr.js never reads one: it accepts
 * octal there, and takes the IPv4-compatible `::1.2.3.4` for the IPv4-mapped address.
 */
function withoutDottedTail(text: string): string | undefined {
  if (!text.includes('.')) return text;
  const tailAt = text.lastIndexOf(':') + 1;
  const tail = text.slice(tailAt);
  if (!ipaddr.IPv4.isValidFourPartDecimal(tail)) return undefined;
  const [a = 0, b = 0, c = 0, d = 0] = ipaddr.IPv4.parse(tail).octets;
  return `${text.slice(0, tailAt)}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}

function parseGroups(text: string): readonly number[] | undefined {
  try {
    return ipaddr.IPv6.parse(text).parts;
  } catch {
    return undefined;
  }
}

/**
 * Parses the words as written: a mapped address stays four words long. The families are distinguished by their
 * characters first, because ipaddr.js throws on a text that is not an address, which costs 40 µs.
 */
function parseWords(text: string): number[] | undefined {
  if (/^[\d.]+$/.test(text)) {
    return ipaddr.IPv4.isValidFourPartDecimal(text) ? toWords(ipaddr.IPv4.parse(text).octets, 8) : undefined;
  }
  if (!/^[\da-f:.]+$/i.test(text)) return undefined;
  const hexadecimal = withoutDottedTail(text);
  const groups = hexadecimal === undefined ? undefined : parseGroups(hexadecimal);
  return groups === undefined ? undefined : toWords(groups, 16);
}

function formatWords(words: readonly number[]): string {
  if (words.length === 1) {
    const [word = 0] = words;
    return [24, 16, 8, 0].map((shift) => (word >>> shift) & 255).join('.');
  }
  return new ipaddr.IPv6(words.flatMap((word) => [word >>> 16, word & 0xffff])).toRFC5952String();
}

/** Parses dotted decimal or IPv6 without a zone; undefined for anything else. */
export function parseAddress(text: string): Address | undefined {
  const words = parseWords(text);
  if (words === undefined) return undefined;
  const unmapped = isMapped(words) ? words.slice(3) : words;
  return { words: unmapped, text: formatWords(unmapped) };
}

/** Parses the address of a socket's peer, without the zone (`%eth0`) that the system may add and no list can name. */
export function parsePeer(text: string): Address | undefined {
  if (knownPeers.has(text)) return knownPeers.get(text);
  const zoneAt = text.indexOf('%');
  const address = parseAddress(zoneAt === -1 ? text : text.slice(0, zoneAt));
  if (knownPeers.size >= REMEMBERED.peers) knownPeers.clear();
  knownPeers.set(text, address);
  return address;
}

/** Cache: the same few peers send nearly all requests, and parsing an address is a tenth of the cost of a short one. */
const knownPeers = new Map<string, Address | undefined>();

/** Returns the canonical address of a socket's peer, by which limits are counted; empty if it is not an address. */
export const canonicalPeer = (text: string): string => parsePeer(text)?.text ?? '';

function maskOf(prefix: number, wordIndex: number): number {
  const bits = Math.min(Math.max(prefix - wordIndex * 32, 0), 32);
  // A shift by 32 is a shift by 0 in JavaScript.
  return bits === 0 ? 0 : (0xffffffff << (32 - bits)) >>> 0;
}

type ParsedEntry =
  | { readonly network: Network; readonly warning: string | undefined }
  | { readonly reason: string };

function parseEntry(entry: string): ParsedEntry {
  const slashAt = entry.indexOf('/');
  const addressText = slashAt === -1 ? entry : entry.slice(0, slashAt);
  if (addressText.includes('%')) return { reason: 'a zone id cannot be listed' };
  const words = parseWords(addressText);
  if (words === undefined) {
    return { reason: 'not an address; expected four decimal parts without leading zeros, or IPv6' };
  }
  const bits = words.length * 32;
  const prefixText = slashAt === -1 ? `${bits}` : entry.slice(slashAt + 1);
  if (!/^(?:0|[1-9]\d{0,2})$/.test(prefixText) || Number(prefixText) > bits) {
    return { reason: `the prefix must be a number from 0 to ${bits}` };
  }
  const prefix = Number(prefixText);
  const masked = words.map((word, index) => (word & maskOf(prefix, index)) >>> 0);
  const isV4 = isMapped(masked) && prefix >= MAPPED_PREFIX;
  const network = isV4
    ? { words: masked.slice(3), prefix: prefix - MAPPED_PREFIX }
    : { words: masked, prefix };
  const hasHostBits = words.some((word, index) => word !== masked[index]);
  const warning = hasHostBits
    ? `${entry} has bits set beyond its prefix; read as ${formatWords(network.words)}/${network.prefix}`
    : undefined;
  return { network, warning };
}

/** Compares addresses of one family, as for a sort. */
function compareWords(left: readonly number[], right: readonly number[]): number {
  for (let index = 0; index < left.length; index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function isWithin(words: readonly number[], network: Network): boolean {
  for (let index = 0; index * 32 < network.prefix; index++) {
    const difference = (words[index] ?? 0) ^ (network.words[index] ?? 0);
    if ((difference & maskOf(network.prefix, index)) !== 0) return false;
  }
  return true;
}

/** Two networks are nested or disjoint, so one inside the last one kept adds nothing. */
function sortNetworks(networks: readonly Network[]): readonly Network[] {
  const kept: Network[] = [];
  const sorted = networks.toSorted((a, b) => compareWords(a.words, b.words) || a.prefix - b.prefix);
  for (const network of sorted) {
    const last = kept.at(-1);
    if (last === undefined || !isWithin(network.words, last)) kept.push(network);
  }
  return kept;
}

/**
 * Reads a list of single addresses, CIDR ranges and, if allowed, `*`. A list with problems must not be used: its rules
 * lack the entries that could not be read.
 */
export function parseAddressList(entries: readonly string[], allowWildcard: boolean) {
  const networks: Network[] = [];
  const problems: { readonly index: number; readonly reason: string }[] = [];
  const warnings: string[] = [];
  let hasWildcard = false;
  for (const [index, value] of entries.entries()) {
    if (value === '*') {
      hasWildcard ||= allowWildcard;
      const reason = '"*" is for the allow list only; list addresses and ranges here';
      if (!allowWildcard) problems.push({ index, reason });
      continue;
    }
    const entry = parseEntry(value);
    if ('reason' in entry) {
      problems.push({ index, reason: entry.reason });
      continue;
    }
    networks.push(entry.network);
    if (entry.warning !== undefined) warnings.push(entry.warning);
    // Only the allow list takes "*", so only there does a match skip the key.
    if (allowWildcard && entry.network.prefix === 0) {
      const family = entry.network.words.length === 1 ? 'IPv4' : 'IPv6';
      warnings.push(
        `${value} in the allow list admits every ${family} client without the key; "*" admits every client that has it`,
      );
    }
  }
  const ofWidth = (width: number) => sortNetworks(networks.filter(({ words }) => words.length === width));
  return { entries, rules: { hasWildcard, v4: ofWidth(1), v6: ofWidth(4) }, problems, warnings };
}

export const NO_ADDRESSES: AddressList = { entries: [], rules: parseAddressList([], false).rules };

/** Returns whether the list is empty: not even `*`. */
export function isEmptyList(rules: AddressRules): boolean {
  return !rules.hasWildcard && rules.v4.length + rules.v6.length === 0;
}

/** Returns whether a single address or a range of the list contains `address`; `*` does not count. */
export function matches(rules: AddressRules, { words }: Address): boolean {
  const networks = words.length === 1 ? rules.v4 : rules.v6;
  let low = 0;
  let high = networks.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareWords(networks[middle]?.words ?? [], words) > 0) high = middle;
    else low = middle + 1;
  }
  const last = networks[low - 1];
  return last !== undefined && isWithin(words, last);
}
