/** Who the client of a request is: the peer, or whom a trusted proxy names. */
import { type Address, type AddressRules, matches, parseAddress, parsePeer } from './addresses.ts';
import { type AccessRequest, FORWARDING_HEADERS, valuesOf } from './request.ts';

export interface Client {
  readonly address: Address;
  /** The request came through a proxy that nobody vouches for: the address may be that proxy's. */
  readonly isForwarded: boolean;
}

// Some proxies write the port behind the address.
function parseForwardedFor(element: string): Address | undefined {
  const text = element.trim();
  const host = /^(?:\[([^\]]*)\]|(\d+(?:\.\d+){3}))(?::\d{1,5})?$/.exec(text);
  return parseAddress(host?.[1] ?? host?.[2] ?? text);
}

/**
 * The right-most address that is no trusted proxy; the left-most when all are.
 * Undefined as soon as an element on the way is no address: what stands left of it is hearsay.
 */
function findClient(trusted: AddressRules, values: readonly string[]): Address | undefined {
  let address: Address | undefined;
  for (const element of values.join(',').split(',').reverse()) {
    address = parseForwardedFor(element);
    if (address === undefined || !matches(trusted, address)) return address;
  }
  return address;
}

/** Undefined: not known. */
export function clientOf(trusted: AddressRules, request: AccessRequest): Client | undefined {
  const peer = parsePeer(request.remoteAddress ?? '');
  if (peer === undefined) return undefined;
  const forwardedFor = valuesOf(request, 'x-forwarded-for');
  if (forwardedFor.length > 0 && matches(trusted, peer)) {
    const address = findClient(trusted, forwardedFor);
    return address === undefined ? undefined : { address, isForwarded: false };
  }
  const isForwarded = FORWARDING_HEADERS.some((name) => valuesOf(request, name).length > 0);
  return { address: peer, isForwarded };
}
