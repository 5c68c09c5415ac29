/** `hostwire pair`: a new key for a device, and a link and a QR code that bring it there. */
import { randomBytes } from 'node:crypto';
import os from 'node:os';
import { isLoopback } from '../../access/exposure.ts';
import { describeDigest } from '../../access/key.ts';
import type { Config } from '../../config/config.ts';
import { type LoadOptions, loadConfig } from '../../config/load.ts';
import { messageOf } from '../../errors.ts';
import { isScope, type Scope } from '../../scopes.ts';
import { fromUrl, inUrl } from '../../url-host.ts';
import { jsonText, type Output } from '../output.ts';
import { expiryOf, type PairWords } from '../pair-words.ts';
import type { Face } from '../terminal.ts';
import { type KeyTerms, linesOf, storeKey } from './key-files.ts';
import { paintQr } from './qr.ts';

const DEFAULT_SCOPES: readonly Scope[] = ['read', 'media'];

/** Addresses of this machine that another device may reach. */
function reachable(hostname: string, hasMdns: boolean): readonly string[] {
  const all = Object.values(os.networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const outside = all.filter(({ internal, address }) => !internal && !address.startsWith('fe80:'));
  const [v4, v6] = ['IPv4', 'IPv6'].map((family) =>
    outside.filter((each) => each.family === family).map(({ address }) => address),
  );
  return [...(v4 ?? []), ...(hasMdns ? [`${hostname}.local`] : []), ...(v6 ?? [])];
}

interface Way {
  readonly url: string;
  /** Further addresses, without the key. */
  readonly others: readonly string[];
}

function wayTo({ server, discovery }: Config, given: string | undefined): Way {
  if (given !== undefined) return { url: given.replace(/\/*$/, '/'), others: [] };
  const { cert, port: securePort } = server.tls;
  const origin = (host: string) =>
    cert === undefined
      ? `http://${inUrl(host)}:${server.port}/`
      : `https://${inUrl(host)}:${securePort ?? server.port}/`;
  const isEverywhere = ['::', '0.0.0.0'].includes(server.host);
  const [first = 'localhost', ...others] = isEverywhere
    ? reachable(os.hostname().split('.', 1)[0] ?? '', discovery.mdns)
    : [server.host];
  return { url: origin(first), others: others.map(origin) };
}

/** Facts that the owner should know before the key is used. */
function warningsOf({ auth, server }: Config, { url }: Way): readonly string[] {
  const { hostname, protocol } = new URL(url);
  const warnings: string[] = [];
  if (isLoopback(server.host))
    warnings.push(
      `the service listens on ${server.host} only: set server.host to "::" and restart it, or no other device reaches it`,
    );
  if (protocol === 'http:' && !isLoopback(fromUrl(hostname)))
    warnings.push(
      'the link uses plain HTTP: anyone who can read the traffic gets the key; "hostwire keygen --tls" makes a certificate',
    );
  if (!auth.enabled && auth.guests === undefined)
    warnings.push(
      'auth.enabled is false: clients without a key may do everything, too; set auth.enabled to true, or auth.guests',
    );
  return warnings;
}

/** Exit code 1 where the key could not be stored. Throws a ConfigError where the configuration is wrong. */
export function pair(
  words: PairWords,
  options: LoadOptions,
  isJson: boolean,
  face: Face,
  nowMs = Date.now(),
): Output {
  const { config } = loadConfig(options);
  const terms: KeyTerms = {
    name: words.name ?? 'phone',
    // They were checked with the other words.
    scopes: words.scopes === undefined ? DEFAULT_SCOPES : words.scopes.split(',').filter(isScope),
    expires: words.expires === undefined ? undefined : expiryOf(words.expires, nowMs),
  };
  const key = randomBytes(32).toString('base64url');
  const way = wayTo(config, words.url);
  const link = `${way.url}#key=${key}`;
  const folder = config.auth.keys_folder;
  let file: string | undefined;
  let failure: string | undefined;
  try {
    if (Object.hasOwn(config.auth.keys, terms.name)) throw new Error(`auth.keys has a key ${terms.name}`);
    if (folder !== undefined) file = storeKey(folder, key, terms);
  } catch (error) {
    failure = messageOf(error);
  }
  const lines = linesOf(key, terms);
  const warnings = warningsOf(config, way);
  const exitCode = failure === undefined ? 0 : 1;
  if (isJson) {
    const { name, scopes, expires = null } = terms;
    const report = { name, scopes, expires, digest: describeDigest(key), file: file ?? null };
    const made = failure === undefined ? { key, url: link, urls: [way.url, ...way.others] } : {};
    return { text: jsonText({ ...report, ...made, warnings, error: failure ?? null }), exitCode };
  }
  if (failure !== undefined) return { text: `no key was made: ${failure}\n`, exitCode };
  const stored =
    file === undefined
      ? `Add this to the configuration, which has no auth.keys_folder that the key could be written to:\n\nauth:\n  keys:\n    ${terms.name}:\n${lines.map((line) => `      ${line}\n`).join('')}`
      : `The key ${terms.name} is stored in ${file}.\n`;
  const parts = [
    paintQr(link, { hasColours: face.palette === 'colours', hasUnicode: !face.isAscii }),
    `${link}\n`,
    ...(way.others.length === 0 ? [] : [`Other addresses: ${way.others.join(' ')}\n`]),
    `${stored}It may: ${terms.scopes.join(', ')}${terms.expires === undefined ? '' : `; until ${terms.expires}`}. The link has the key: it is shown this once.\n`,
    ...warnings.map((warning) => `Note: ${warning}.\n`),
  ];
  return { text: parts.join('\n'), isPainted: true, exitCode };
}
