/**
 * A second opinion on every request: the specified decisions, step by step.
 * It shares no code with src/access: addresses are BigInts, origins are split with string functions.
 */
import type { Case } from './cases.ts';

export interface Opinion {
  readonly verdict: string;
  readonly client: string | undefined;
  /** The origin that may read the answer. */
  readonly cors: string | undefined;
  readonly isWrongKey: boolean;
}

interface Number128 {
  readonly family: 4 | 6;
  readonly value: bigint;
}

function number4(text: string): bigint | undefined {
  const parts = text.split('.');
  if (parts.length !== 4) return undefined;
  let value = 0n;
  for (const part of parts) {
    if (String(parseInt(part, 10)) !== part || parseInt(part, 10) > 255 || parseInt(part, 10) < 0)
      return undefined;
    value = value * 256n + BigInt(part);
  }
  return value;
}

function number6(text: string): bigint | undefined {
  let rest = text;
  const dot = rest.indexOf('.');
  if (dot !== -1) {
    const cut = rest.lastIndexOf(':') + 1;
    const tail = number4(rest.slice(cut));
    if (tail === undefined) return undefined;
    rest = `${rest.slice(0, cut)}${(tail >> 16n).toString(16)}:${(tail & 0xffffn).toString(16)}`;
  }
  const halves = rest.split('::');
  if (halves.length > 2) return undefined;
  const groups = halves.map((half) => (half === '' ? [] : half.split(':')));
  const count = groups.reduce((sum, half) => sum + half.length, 0);
  if (halves.length === 1 ? count !== 8 : count > 7) return undefined;
  const all = [...(groups[0] ?? []), ...Array<string>(8 - count).fill('0'), ...(groups[1] ?? [])];
  let value = 0n;
  for (const group of all) {
    if (
      group.length < 1 ||
      group.length > 4 ||
      [...group].some((c) => !'0123456789abcdefABCDEF'.includes(c))
    ) {
      return undefined;
    }
    value = value * 65536n + BigInt(`0x${group}`);
  }
  return value;
}

/** An address as family and number; a mapped one is IPv4. */
export function numberOf(text: string): Number128 | undefined {
  const four = number4(text);
  if (four !== undefined) return { family: 4, value: four };
  const six = text.includes(':') ? number6(text) : undefined;
  if (six === undefined) return undefined;
  return six >> 32n === 0xffffn ? { family: 4, value: six & 0xffffffffn } : { family: 6, value: six };
}

/** Whether the list (single addresses and ranges) contains the address. */
export function holds(list: readonly string[], address: Number128): boolean {
  for (const entry of list) {
    if (entry === '*') continue;
    const [base = '', length] = entry.split('/');
    const network = numberOf(base);
    if (network === undefined) throw new Error(`the oracle cannot read ${entry}`);
    const isWrittenLong = base.includes(':');
    let prefix = length === undefined ? (isWrittenLong ? 128 : 32) : Number(length);
    let { family, value } = network;
    if (family === 4 && isWrittenLong) {
      if (prefix >= 96) prefix -= 96;
      else {
        family = 6;
        value |= 0xffffn << 32n;
      }
    }
    const shift = BigInt((family === 4 ? 32 : 128) - prefix);
    if (family === address.family && value >> shift === address.value >> shift) return true;
  }
  return false;
}

function findClient(c: Case): Number128 | undefined {
  const peer = c.peer === undefined ? undefined : numberOf(c.peer.split('%')[0] ?? '');
  if (peer === undefined) return undefined;
  const lines = c.forwarding.filter(([name]) => name === 'x-forwarded-for').map(([, value]) => value);
  if (lines.length === 0 || !holds(c.trusted, peer)) return peer;
  const chain = lines.flatMap((line) => line.split(',')).map((text) => text.trim());
  let client: Number128 | undefined;
  while (chain.length > 0) {
    let text = chain.pop() ?? '';
    if (text.startsWith('[')) text = text.slice(1, text.indexOf(']'));
    else if (text.split(':').length === 2) text = text.split(':')[0] ?? '';
    client = numberOf(text);
    if (client === undefined) return undefined;
    if (!holds(c.trusted, client)) return client;
  }
  return client;
}

function isSafeName(text: string, own: readonly string[]): boolean {
  let name = text.toLowerCase();
  if (name.startsWith('[')) {
    return name.includes(']') && numberOf(name.slice(1, name.indexOf(']'))) !== undefined;
  }
  name = name.split(':')[0] ?? '';
  if (name.endsWith('.')) name = name.slice(0, -1);
  if (!/^[a-z0-9._-]+$/.test(name) || name.split('.').some((label) => label === '')) return false;
  if (number4(name) !== undefined) return true;
  const labels = name.split('.');
  if (labels.at(-1) === 'localhost') return true;
  if (own.map((each) => each.toLowerCase()).includes(name)) return true;
  const machine = 'pc';
  if (labels[0] !== machine) return false;
  const suffix = labels.slice(1).join('.');
  const local = 'local lan home home.arpa internal localdomain intranet corp private fritz.box'.split(' ');
  if (suffix === '' || local.includes(suffix)) return true;
  return labels.length === 4 && labels[2] === 'ts' && labels[3] === 'net';
}

function hostAndPort(scheme: string, authority: string): string {
  const lower = authority.toLowerCase();
  const standard = scheme === 'https' ? '443' : '80';
  return /:\d+$/.test(lower.replace(/^\[[^\]]*\]/, '')) ? lower : `${lower.replace(/:$/, '')}:${standard}`;
}

function isForeign(origin: string, host: string, ownScheme: string, listed: readonly string[]): boolean {
  if (isListed(origin, listed)) return false;
  const [scheme = '', authority] = origin.toLowerCase().split('://');
  if (authority === undefined || !['http', 'https'].includes(scheme) || /[^a-z0-9.:[\]_-]/.test(authority))
    return true;
  // The scheme of the request is known only from a trusted proxy.
  return (
    (ownScheme !== '' && ownScheme !== scheme) || hostAndPort(scheme, authority) !== hostAndPort(scheme, host)
  );
}

function isListed(origin: string, listed: readonly string[]): boolean {
  return listed.some((each) => each.toLowerCase() === origin.toLowerCase());
}

function isTheKey(c: Case): boolean {
  if (c.key === undefined) return false;
  const [first] = c.authorization;
  if (c.authorization.length === 1 && first !== undefined) {
    const space = first.indexOf(' ');
    if (first.slice(0, space).toLowerCase() === 'bearer' && first.slice(space).trim() === c.key) return true;
  }
  return c.path === '/api/ws' && c.query.length === 1 && c.query[0] === c.key;
}

function sentAKey(c: Case): boolean {
  return c.authorization.length > 0 || (c.path === '/api/ws' && c.query.length > 0);
}

function isPreflight(c: Case): boolean {
  return c.method === 'OPTIONS' && c.origin.length === 1 && c.requestMethod.length > 0;
}

/** Steps 1 and 2 and the contract's 3 to 7: keyed, keyless, public or a refusal. */
function ruling(c: Case, client: Number128): string {
  if (holds(c.block, client)) return '403';
  if (isPreflight(c)) return 'preflight';
  const accepted = isTheKey(c) ? 'keyed' : 'keyless';
  if (c.path === '/api/status') return `public ${accepted}`;
  if (c.path === '/' && c.dashboard) return `public ${accepted}`;
  if (!c.auth) return accepted;
  if (c.allow.length > 0 && !c.allow.includes('*') && !holds(c.allow, client)) return '403';
  const peer = numberOf(c.peer?.split('%')[0] ?? '');
  const isProxyTrusted = peer !== undefined && holds(c.trusted, peer);
  const says = c.forwarding.some(([name]) => name === 'x-forwarded-for');
  const isSuspect = c.refuseForwarded && c.forwarding.length > 0 && !(isProxyTrusted && says);
  if (holds(c.allow, client) && !isSuspect) return accepted;
  return isTheKey(c) ? 'keyed' : '401';
}

/** Step 4. */
function webGuard(c: Case): string {
  const said = (name: string) =>
    c.forwarding
      .flatMap(([each, value]) => (each === name ? value.split(',') : []))
      .at(-1)
      ?.trim() ?? '';
  const peer = numberOf(c.peer?.split('%')[0] ?? '');
  const isProxied = peer !== undefined && holds(c.trusted, peer);
  const asked = c.host[0] ?? '';
  const host = (isProxied && said('x-forwarded-host')) || asked;
  const scheme = isProxied ? said('x-forwarded-proto').toLowerCase() : '';
  if (c.host.length !== 1 || asked === '') return '400';
  const own = [...c.hosts, 'pc', 'pc.campus.edu'];
  if (!isSafeName(asked, own) || !isSafeName(host, own)) return '403 host_not_allowed';
  const [origin] = c.origin;
  if (c.origin.length > 1) return '403 origin_not_allowed';
  if (origin !== undefined && isForeign(origin, host, scheme, c.origins)) return '403 origin_not_allowed';
  const isPageListed = origin !== undefined && isListed(origin, c.origins);
  const isOtherSite = c.fetchSite.includes('cross-site') || c.fetchSite.includes('same-site');
  const fetched = [c.fetchMode, c.fetchDest, c.fetchUser].map((values) => values.join('+')).join(' ');
  const isLink = c.method === 'GET' && !c.upgrade && fetched === 'navigate document ?1';
  return isOtherSite && !isPageListed && !isLink ? '403 origin_not_allowed' : 'keyless';
}

function reader(c: Case, hasKey: boolean): string | undefined {
  const [origin] = c.origin;
  if (origin === undefined || c.origin.length > 1) return undefined;
  if (isListed(origin, c.origins)) return origin;
  return hasKey && (origin === 'null' || /^[a-z-]+:\/\/[a-z0-9.:-]+$/i.test(origin)) ? origin : undefined;
}

/** The specified outcome of this case. */
export function opinionOn(c: Case): Opinion {
  const client = findClient(c);
  if (client === undefined)
    return { verdict: '403', client: undefined, cors: reader(c, false), isWrongKey: false };
  const ruled = ruling(c, client);
  const verdict = ruled === 'keyless' ? webGuard(c) : ruled.replace('public ', '');
  const asksForKey = c.requestHeaders.some((line) =>
    line.split(',').some((name) => name.trim().toLowerCase() === 'authorization'),
  );
  return {
    verdict,
    client: writtenOut(client),
    cors: reader(c, verdict === 'preflight' ? asksForKey : verdict === 'keyed'),
    isWrongKey: verdict === '401' && sentAKey(c),
  };
}

/** The canonical form of an address. */
export function writtenOut(address: Number128): string {
  return `${address.family}:${address.value.toString(16)}`;
}
