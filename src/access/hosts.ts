/** Host names that a foreign page cannot have pointed at this machine (DNS rebinding). */
import { parseAddress } from './addresses.ts';

// No stranger can register these: they are reserved, or resolved in the local network only.
const SAFE_SUFFIXES: readonly string[] = [
  '.localhost',
  '.local',
  '.lan',
  '.home',
  '.home.arpa',
  '.internal',
  '.localdomain',
  '.intranet',
  '.corp',
  '.private',
  '.test',
  '.invalid',
  '.example',
  '.ts.net',
];

const AUTHORITY = /^(\[[^\]]*\]|[^:[\]]+)(?::(\d{0,5}))?$/;
const NAME = /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/;
const MAX_NAME_LENGTH = 253;
const MAX_PORT = 65535;

/** A name in lower case, without a trailing dot; undefined: not a host name. */
export function normalizeName(text: string): string | undefined {
  const name = text.toLowerCase().replace(/\.$/, '');
  return name.length <= MAX_NAME_LENGTH && NAME.test(name) ? name : undefined;
}

/** A bracketed literal may have a zone (`[fe80::1%25eth0]`); no name server can return one. */
function isBracketedAddress(text: string): boolean {
  const inner = /^\[([^%]+)(?:%[a-z0-9._~%-]+)?\]$/i.exec(text)?.[1];
  return inner?.includes(':') === true && parseAddress(inner) !== undefined;
}

/** The host of `host[:port]`, normalised: a name, a dotted IPv4 address or a bracketed IPv6 address. */
export function parseAuthority(text: string): string | undefined {
  const match = AUTHORITY.exec(text);
  const host = match?.[1];
  if (host === undefined || Number(match?.[2] ?? 0) > MAX_PORT) return undefined;
  if (host.startsWith('[')) return isBracketedAddress(host) ? host.toLowerCase() : undefined;
  return normalizeName(host);
}

/** `host` as parseAuthority returns it; `own`: the machine's names and the configured ones. */
export function isSafeHost(own: ReadonlySet<string>, host: string): boolean {
  if (host.startsWith('[') || parseAddress(host) !== undefined) return true;
  if (!host.includes('.')) return true;
  return own.has(host) || SAFE_SUFFIXES.some((suffix) => host.endsWith(suffix));
}
