/** Determines host names that a foreign page cannot have pointed at this machine (DNS rebinding). */
import { parseAddress } from './addresses.ts';

/** Suffixes that routers and VPNs append to a machine's name. A tailnet adds its own label in front of its suffix. */
const LOCAL_SUFFIXES: readonly string[] = [
  'local',
  'lan',
  'home',
  'home.arpa',
  'internal',
  'localdomain',
  'intranet',
  'corp',
  'private',
  'fritz.box',
  // Stands for any single label, see isSafeHost: `*` cannot be part of a host name.
  '*.ts.net',
];

const AUTHORITY = /^(\[[^\]]*\]|[^:[\]]+)(?::(\d{0,5}))?$/;
const NAME = /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/;
const MAX_NAME_LENGTH = 253;
const MAX_PORT = 65535;

/** Returns a name in lower case, without a trailing dot; undefined: not a host name. */
export function normalizeName(text: string): string | undefined {
  const name = text.toLowerCase().replace(/\.$/, '');
  return name.length <= MAX_NAME_LENGTH && NAME.test(name) ? name : undefined;
}

/** A bracketed literal may have a zone (`[fe80::1%25eth0]`); no name server can return one. */
function isBracketedAddress(text: string): boolean {
  const inner = /^\[([^%]+)(?:%[a-z0-9._~%-]+)?\]$/i.exec(text)?.[1];
  return inner?.includes(':') === true && parseAddress(inner) !== undefined;
}

/** Returns the host of `host[:port]`, normalised: a name, a dotted IPv4 address or a bracketed IPv6 address. */
export function parseAuthority(text: string): string | undefined {
  const match = AUTHORITY.exec(text);
  const host = match?.[1];
  if (host === undefined || Number(match?.[2] ?? 0) > MAX_PORT) return undefined;
  if (host.startsWith('[')) return isBracketedAddress(host) ? host.toLowerCase() : undefined;
  return normalizeName(host);
}

/**
 * Returns the names by which a browser may reach a machine: each as given, and its short name with each local suffix.
 */
export function withLocalSuffixes(machineNames: readonly string[]): readonly string[] {
  return machineNames.flatMap((name) => {
    const [short] = name.split('.');
    if (short === undefined || short === '' || short === 'localhost') return [name];
    return [name, short, ...LOCAL_SUFFIXES.map((suffix) => `${short}.${suffix}`)];
  });
}

/**
 * Returns whether no stranger can make `host`, as parseAuthority returns it, point at this machine. `own`: the
 * machine's names and the configured ones. Other local names are not safe: the operator of the Wi-Fi decides what they
 * point at.
 */
export function isSafeHost(own: ReadonlySet<string>, host: string): boolean {
  if (host.startsWith('[') || parseAddress(host) !== undefined) return true;
  if (host === 'localhost' || host.endsWith('.localhost')) return true;
  return own.has(host) || own.has(host.replace(/^([^.]+)\.[^.]+\.ts\.net$/, '$1.*.ts.net'));
}
