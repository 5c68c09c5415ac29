/** The names of the rebinding proof: those that a stranger can point somewhere, and those that are the machine's own. */

/** The name of this proof's machine. */
export const HOST_NAME = 'pc.home.example';
/** In `server.allowed_hosts`. */
export const ALLOWED_NAME = 'stats.example.org';

/** An address of the machine, and the address that the owner's browser has when it connects there. */
export interface Site {
  readonly place: string;
  readonly address: string;
  readonly from: string | undefined;
}

export const SITES: readonly Site[] = [
  { place: 'loopback', address: '127.0.0.1', from: undefined },
  { place: 'LAN', address: '192.168.77.10', from: '192.168.77.20' },
  { place: 'tailnet', address: '100.101.102.103', from: '100.101.102.20' },
];

export const IPV6_ADDRESS = 'fd77::10';

/** A name as a page's URL spells it, and the stranger that can point it at an address. */
export interface StrangersName {
  readonly name: string;
  readonly kind: string;
}

const of = (kind: string, ...names: readonly string[]): readonly StrangersName[] =>
  names.map((name) => ({ name, kind }));

export const STRANGERS_NAMES: readonly StrangersName[] = [
  ...of('one label: the operator of the Wi-Fi', 'wifi', 'router', 'nas'),
  ...of(
    'a local suffix, another machine: the operator of the Wi-Fi, or any device by mDNS',
    'portal.lan',
    'tv.local',
    'login.internal',
    'printer.home',
    'nas.home.arpa',
    'fritz.box',
    'nas.fritz.box',
    'nas.localdomain',
    'wiki.intranet',
    'mail.corp',
    'files.private',
  ),
  ...of(
    'a tailnet, another machine or another label',
    'other.ts.net',
    'pc.ts.net',
    'a.b.ts.net',
    'pc.a.b.ts.net',
  ),
  ...of(
    "the machine's name with more before or behind it",
    'xpc',
    'xpc.lan',
    'pc-lan',
    'x.pc.lan',
    'pc.evil.lan',
    'pc.lan.evil.com',
  ),
  ...of(
    "the machine's full name with more or less of it",
    'xpc.home.example',
    'x.pc.home.example',
    'pc.home.example.evil.com',
    'home.example',
  ),
  ...of('like `localhost`', 'xlocalhost', 'localhost.lan', 'localhost.localdomain', 'localhost.evil.com'),
  ...of('like an address', '127.0.0.1.nip.io', '192-168-77-10.evil.com'),
  ...of(
    'like a name in `server.allowed_hosts`',
    `x.${ALLOWED_NAME}`,
    `x${ALLOWED_NAME}`,
    `${ALLOWED_NAME}.evil.com`,
  ),
  ...of('spelled with a final dot', 'cast.local.'),
  ...of('spelled in upper case', 'GATE.Lan'),
  ...of("the machine's name in Cyrillic letters", '\u0440\u0441.lan'),
];

/** Hosts in the URLs that the owner uses. */
export const OWN_HOSTS: readonly string[] = [
  'pc',
  HOST_NAME,
  ...'local lan home home.arpa internal localdomain intranet corp private fritz.box tail1234.ts.net'
    .split(' ')
    .map((suffix) => `pc.${suffix}`),
  // Browsers make `pc.lan` of full-width letters.
  '\uff50\uff43.lan',
  'PC.Local.',
  'localhost',
  'x.localhost',
  ALLOWED_NAME,
  ...SITES.map(({ address }) => address),
  '[::1]',
  `[${IPV6_ADDRESS}]`,
];

/** Hosts that look like names and are addresses: browsers connect to them without asking any name server. */
export const ADDRESS_SPELLINGS: readonly string[] = [
  '0x7f.1',
  '2130706433',
  '0177.0.0.1',
  '127.1',
  '0xc0a84d0a',
  '1684366951',
  '\u2460\u2461\u2466.0.0.1',
  '[::ffff:127.0.0.1]',
];
