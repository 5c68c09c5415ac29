/** Finds the client of a request: the peer, or the address that a trusted proxy names. */
import { type Address, type AddressRules, matches, parseAddress, parsePeer } from './addresses.ts';
import { type AccessRequest, FORWARDING_HEADERS, valuesOf } from './request.ts';

export interface Client {
  readonly address: Address;
  /** The request came through a proxy that is not trusted: the address may be that proxy's. */
  readonly isForwarded: boolean;
  /** The peer is a trusted proxy: its X-Forwarded-Host and X-Forwarded-Proto stand for Host and scheme. */
  readonly isProxied: boolean;
}

/**
 * Maximum number of addresses of a chain that are read, from the right: more trusted proxies in a row are not expected,
 * and a head of 16 KiB can hold 4,000 addresses.
 */
export const MAX_PROXIES = 32;

// Some proxies append the port to the address.
function parseForwardedFor(element: string): Address | undefined {
  const text = element.trim();
  const host = /^(?:\[([^\]]*)\]|(\d+(?:\.\d+){3}))(?::\d{1,5})?$/.exec(text);
  return parseAddress(host?.[1] ?? host?.[2] ?? text);
}

/** Returns the end of the chain that several headers and their elements form. */
export const chainOf = (values: readonly string[]): string[] =>
  values.join(',').split(',').slice(-MAX_PROXIES);

/**
 * Returns the right-most address that is not a trusted proxy; the left-most one when all are trusted proxies. Undefined
 * when an element on the way is not an address, because everything left of it may be forged.
 */
function findClient(trusted: AddressRules, values: readonly string[]): Address | undefined {
  let address: Address | undefined;
  for (const element of chainOf(values).reverse()) {
    address = parseForwardedFor(element);
    if (address === undefined || !matches(trusted, address)) return address;
  }
  return address;
}

/** Returns the client of a request; undefined when it cannot be determined. */
export function clientOf(trusted: AddressRules, request: AccessRequest): Client | undefined {
  const peer = parsePeer(request.remoteAddress ?? '');
  if (peer === undefined) return undefined;
  const forwardedFor = valuesOf(request, 'x-forwarded-for');
  const isProxied = matches(trusted, peer);
  if (forwardedFor.length > 0 && isProxied) {
    const address = findClient(trusted, forwardedFor);
    return address === undefined ? undefined : { address, isForwarded: false, isProxied };
  }
  const isForwarded = FORWARDING_HEADERS.some((name) => valuesOf(request, name).length > 0);
  return { address: peer, isForwarded, isProxied };
}
