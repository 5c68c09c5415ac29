/** The changes of a pairing on this machine: the file of the key, and marked lines of a configuration that is as shipped. */
import { rmSync } from 'node:fs';
import path from 'node:path';
import { matches, NO_ADDRESSES, parseAddress } from '../../access/addresses.ts';
import { isLoopback } from '../../access/exposure.ts';
import type { Config } from '../../config/config.ts';
import type { Loaded } from '../../config/load.ts';
import { codeOf, messageOf } from '../../errors.ts';
import { fromUrl } from '../../url-host.ts';
import { isDirect } from './device-link.ts';
import { type KeyTerms, storeKey } from './key-files.ts';
import { linesIn, type Opening, planOpening, replaceText } from './open-config.ts';
import { SHIPPED_LINES, type ShippedKey } from './shipped-lines.ts';

export interface PairingPlan {
  /** The keys to set before a device gets in by a key, and no client without one. */
  readonly needed: readonly ShippedKey[];
  /** undefined: nothing is needed, or the lines are not as shipped. */
  readonly opening: Opening | undefined;
  /** Why no device would reach the service, and what to do first. */
  readonly refusal: string | undefined;
  /** The configuration as it is after the pairing. */
  readonly config: Config;
}

/** Returns whether clients of this address may reach the service from the loopback address, by a proxy or a published port. */
export const isRelayed = (
  url: string | undefined,
  server: Config['server'],
  isInContainer: boolean,
): boolean =>
  url !== undefined &&
  !isLoopback(fromUrl(new URL(url).hostname)) &&
  (isInContainer || !isDirect(url, server));

/** `url`: of `--url`. An address that is not the service's own is that of a proxy, which needs no other host. */
export function planPairing(loaded: Loaded, url: string | undefined, isInContainer = false): PairingPlan {
  const { auth, server } = loaded.config;
  const isClosed = isLoopback(server.host) && (url === undefined || isDirect(url, server));
  const isOpen = !auth.enabled && (isClosed || auth.guests === undefined);
  const needed: readonly ShippedKey[] = [
    ...(isClosed ? (['server.host'] as const) : []),
    ...(isOpen ? (['auth.enabled'] as const) : []),
    ...(isRelayed(url, server, isInContainer) && admitsLocal(loaded.config)
      ? (['auth.allowed_ips'] as const)
      : []),
  ];
  const opening = auth.keys_folder === undefined ? undefined : planOpening(loaded, needed);
  const refusal = isClosed && opening === undefined ? refusalOf(loaded, needed) : undefined;
  return {
    needed,
    opening,
    refusal,
    config: opening === undefined ? loaded.config : opened(loaded.config, needed),
  };
}

/** Returns whether clients on this machine get in without a key. */
export const admitsLocal = ({ auth }: Pick<Config, 'auth'>): boolean =>
  ['127.0.0.1', '::1'].some((text) => {
    const address = parseAddress(text);
    return address !== undefined && matches(auth.allowed_ips.rules, address);
  });

const opened = (config: Config, keys: readonly ShippedKey[]): Config => ({
  ...config,
  server: keys.includes('server.host') ? { ...config.server, host: '::' } : config.server,
  auth: {
    ...config.auth,
    enabled: config.auth.enabled || keys.includes('auth.enabled'),
    allowed_ips: keys.includes('auth.allowed_ips') ? NO_ADDRESSES : config.auth.allowed_ips,
  },
});

function refusalOf({ config, origins }: Loaded, needed: readonly ShippedKey[]): string {
  const changes = needed.map((key) => {
    const origin = origins.get(key);
    const place = origin === undefined || origin === 'default' ? '' : ` (${origin})`;
    return `${key} to ${SHIPPED_LINES[key].value}${place}`;
  });
  return (
    `the service listens only on ${config.server.host}, so other devices cannot reach it. Set ${changes.join(' and ')}, ` +
    'restart it and pair again, or use --url with the address of a proxy on this machine'
  );
}

/** The result of `store`. */
export interface Stored {
  /** The key's own; undefined: it is for the owner to add. */
  readonly file?: string;
  /** Lines of the configuration that were changed. */
  readonly changed: readonly string[];
  /** Why the owner adds the key. */
  readonly why?: string;
  /** Lines of the configuration that the owner changes. */
  readonly toChange?: readonly string[];
  /** Why there is no key. */
  readonly failure?: string;
}

interface Pairing {
  readonly key: string;
  readonly terms: KeyTerms;
  readonly loaded: Loaded;
  /** Node's name of it. */
  readonly platform: string;
}

/** Stores the key and opens the configuration, or changes nothing. */
export function store({ opening, refusal }: PairingPlan, pairing: Pairing): Stored {
  const { key, terms, loaded, platform } = pairing;
  const { auth } = loaded.config;
  const failed = (failure: string): Stored => ({ changed: [], failure });
  if (refusal !== undefined) return failed(refusal);
  if (Object.hasOwn(auth.keys, terms.name))
    return failed(
      `there is already a key named ${terms.name}; choose another name with --name, or remove it with "hostwire keys remove ${terms.name}"`,
    );
  const folder = auth.keys_folder;
  if (folder === undefined) return { changed: [], why: 'as it has no auth.keys_folder for the key' };
  let file: string | undefined;
  try {
    file = storeKey(folder, key, terms);
    if (opening !== undefined) replaceText(opening.file, opening.after, platform !== 'win32');
    return { file, changed: opening === undefined ? [] : linesIn(opening) };
  } catch (error) {
    if (file !== undefined) rmSync(file, { force: true });
    return judgeFailure(error, opening, pairing);
  }
}

/** Errors of a file system that no user can write: a read-only mount, and a file that is a mount point. */
const READ_ONLY = ['EROFS', 'EBUSY'];

/** Returns what the owner does instead of this program. */
export function judgeFailure(
  error: unknown,
  opening: Opening | undefined,
  { loaded, platform }: Pick<Pairing, 'loaded' | 'platform'>,
): Stored {
  const code = codeOf(error);
  if (READ_ONLY.includes(code))
    return {
      changed: [],
      why: 'as it cannot be written from here',
      toChange: opening === undefined ? [] : linesIn(opening),
    };
  if (!['EACCES', 'EPERM'].includes(code)) return { changed: [], failure: messageOf(error) };
  const folders = [...new Set(loaded.sources.files.map((file) => path.dirname(file)))].join(', ');
  const [asOwner, own] =
    platform === 'win32'
      ? ['in a terminal opened as administrator', '%XDG_CONFIG_HOME%\\hostwire']
      : ['as root ("sudo hostwire pair"; in a container "docker exec --user 0")', '~/.config/hostwire'];
  return {
    changed: [],
    failure:
      `this user cannot write to ${folders}. Run it ${asOwner} for the service that reads that configuration; for a service ` +
      `of your own copy the configuration to ${own}, restart that service, and pair again`,
  };
}

/** Returns what restarts the service that reads `file`. */
export function restartCommand(file: string, platform: string, isInContainer: boolean): string {
  if (isInContainer) return 'restart the container';
  if (platform === 'win32') return 'sc stop hostwire, then sc start hostwire';
  return path.dirname(file) === '/etc/hostwire'
    ? 'systemctl restart hostwire'
    : 'systemctl --user restart hostwire';
}
