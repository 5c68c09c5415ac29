/** `hostwire pair`: a new key for a device, and a link and a QR code that bring it there. */
import { randomBytes } from 'node:crypto';
import { isLoopback } from '../../access/exposure.ts';
import { describeDigest } from '../../access/key.ts';
import { describeKeys } from '../../access/key-list.ts';
import { isOfHub } from '../../config/config.ts';
import { type LoadOptions, loadConfig } from '../../config/load.ts';
import { isContainer } from '../../host/roots.ts';
import { isScope, type Scope } from '../../scopes.ts';
import { fromUrl } from '../../url-host.ts';
import { jsonText, type Output } from '../output.ts';
import { expiryOf, type PairWords } from '../pair-words.ts';
import type { Face } from '../terminal.ts';
import { type DeviceLink, linkTo } from './device-link.ts';
import { type KeyTerms, linesOf } from './key-files.ts';
import {
  admitsLocal,
  isRelayed,
  type PairingPlan,
  planPairing,
  restartCommand,
  type Stored,
  store,
} from './pairing.ts';
import { paintQr } from './qr.ts';
import { LOCAL_CLIENTS } from './shipped-lines.ts';

const DEFAULT_SCOPES: readonly Scope[] = ['read', 'media'];

/** Facts that the owner should know before the key is used. `given`: the address of `--url`. */
function warningsOf(
  { config, opening }: PairingPlan,
  { url }: DeviceLink,
  given: string | undefined,
  isInContainer: boolean,
): readonly string[] {
  const { auth, server } = config;
  const { hostname, protocol } = new URL(url);
  const warnings: string[] = [];
  if (isLoopback(server.host) && !isLoopback(fromUrl(hostname)))
    warnings.push(
      `the service listens only on ${server.host}, so the link's address must be a proxy on this machine`,
    );
  if (isInContainer && given === undefined)
    warnings.push(
      'the addresses may be internal to the container; use --url to set the one that devices can reach',
    );
  if (protocol === 'http:' && !isLoopback(fromUrl(hostname)))
    warnings.push(
      'the link uses plain HTTP, which exposes the key to anyone who can read the traffic; "hostwire keygen --tls" makes a certificate',
    );
  if (!auth.enabled && auth.guests === undefined)
    warnings.push(
      'auth.enabled is false, so clients without a key may do everything, too; set auth.enabled to true, or set auth.guests',
    );
  if (opening !== undefined && !admitsLocal(config) && !isRelayed(given, server, isInContainer))
    warnings.push(`to admit clients on this machine without a key, set in auth: ${LOCAL_CLIENTS}`);
  return warnings;
}

interface Paired {
  readonly key: string;
  readonly terms: KeyTerms;
  readonly link: DeviceLink;
  readonly stored: Stored;
  readonly restart: string | undefined;
  /** Clients on this machine need no key. */
  readonly isLocalIn: boolean;
  readonly warnings: readonly string[];
}

/**
 * Exit code 1 where the key could not be stored. Throws a ConfigError where the configuration is wrong. `isStale`: the running
 * service needs a restart to listen where the configuration says.
 */
export function pair(
  words: PairWords,
  options: LoadOptions,
  isJson: boolean,
  face: Face,
  nowMs = Date.now(),
  isInContainer = isContainer(),
  isStale = false,
): Output {
  const loaded = loadConfig(options);
  const terms: KeyTerms = {
    name: words.name ?? 'phone',
    // They were checked with the other words.
    scopes: words.scopes === undefined ? DEFAULT_SCOPES : words.scopes.split(',').filter(isScope),
    expires: words.expires === undefined ? undefined : expiryOf(words.expires, nowMs),
  };
  const key = randomBytes(32).toString('base64url');
  const plan = planPairing(loaded, words.url, isInContainer);
  const { auth } = plan.config;
  const features = isOfHub(plan.config) ? undefined : plan.config.features;
  const { platform } = options.surroundings;
  const stored = store(plan, { key, terms, loaded, platform });
  const link = linkTo(plan.config, words.url);
  const paired: Paired = {
    key,
    terms,
    link,
    stored,
    restart:
      isStale || plan.needed.includes('server.host')
        ? restartCommand(plan.opening?.file ?? loaded.sources.files[0] ?? '', platform, isInContainer)
        : undefined,
    isLocalIn: admitsLocal(plan.config),
    warnings: [
      ...warningsOf(plan, link, words.url, isInContainer),
      ...describeKeys({ ...auth, keys: { [terms.name]: { scopes: terms.scopes } } }, features, nowMs),
    ],
  };
  const exitCode = stored.failure === undefined ? 0 : 1;
  if (isJson) return { text: jsonText(reportOf(paired)), exitCode };
  if (stored.failure !== undefined) return { text: `no key was made: ${stored.failure}\n`, exitCode };
  return { text: textOf(paired, face), isPainted: true, exitCode };
}

function reportOf({ key, terms, link, stored, restart, warnings }: Paired) {
  const { name, scopes, expires = null } = terms;
  const { file, changed, failure } = stored;
  const report = { name, scopes, expires, digest: describeDigest(key), file: file ?? null };
  const made =
    failure === undefined
      ? {
          key,
          url: `${link.url}#key=${key}`,
          urls: [link.url, ...link.others],
          changed,
          restart: restart ?? null,
        }
      : {};
  return { ...report, ...made, warnings, error: failure ?? null };
}

/** The lines for a configuration that the key could not be written to. */
function linesToAdd({ key, terms, stored: { why = '', toChange = [] } }: Paired): string {
  const entry = linesOf(key, terms).map((line) => `      ${line}\n`);
  const change =
    toChange.length === 0 ? '' : `\nChange these lines:\n\n${toChange.map((line) => `${line}\n`).join('')}`;
  return `Add this to the configuration, ${why}:\n\nauth:\n  keys:\n    ${terms.name}:\n${entry.join('')}${change}`;
}

function textOf(paired: Paired, face: Face): string {
  const { key, terms, link, stored, restart, isLocalIn, warnings } = paired;
  const url = `${link.url}#key=${key}`;
  const placed =
    stored.file === undefined
      ? linesToAdd(paired)
      : `The key ${terms.name} is stored in ${stored.file}.\n${stored.changed.map((line) => `Changed ${line}\n`).join('')}`;
  const changes =
    stored.changed.length === 0
      ? ''
      : `All clients now need a key, ${isLocalIn ? 'except' : 'including'} those on this machine.\n`;
  const next =
    restart === undefined ? '' : `After a restart the service listens on every address: ${restart}\n`;
  const parts = [
    paintQr(url, { hasColours: face.palette === 'colours', hasUnicode: !face.isAscii }),
    `${url}\n`,
    ...(link.others.length === 0 ? [] : [`Other addresses: ${link.others.join(' ')}\n`]),
    `${placed}${changes}${next}It may: ${terms.scopes.join(', ')}${terms.expires === undefined ? '' : `; until ${terms.expires}`}. The link contains the key and is shown only once.\n`,
    ...warnings.map((warning) => `Note: ${warning}.\n`),
  ];
  return parts.join('\n');
}
