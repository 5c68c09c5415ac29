/** What is wrong or risky in the access keys of a configuration: the first stops a start, the second is logged. */
import type { Config } from '../config/schema.ts';
import { parseAddress, parseAddressList } from './addresses.ts';
import { parseAuthority } from './hosts.ts';
import { canonicalOrigin } from './origins.ts';

export interface AccessProblem {
  /** As in `auth.blocked_ips[2]`. */
  readonly key: string;
  readonly value: string;
  readonly reason: string;
}

export interface AccessNotice {
  readonly level: 'error' | 'warn';
  readonly text: string;
}

const MIN_KEY_LENGTH = 32;

function parsedLists(config: Config) {
  return [
    { key: 'auth.allowed_ips', ...parseAddressList(config.auth.allowed_ips, true) },
    { key: 'auth.blocked_ips', ...parseAddressList(config.auth.blocked_ips, false) },
    { key: 'server.trusted_proxies', ...parseAddressList(config.server.trusted_proxies, false) },
  ];
}

function unreadable(
  key: string,
  values: readonly string[],
  parse: (text: string) => string | undefined,
  reason: string,
): readonly AccessProblem[] {
  return values.flatMap((value, index) =>
    parse(value) === undefined ? [{ key: `${key}[${index}]`, value, reason }] : [],
  );
}

/** Every entry that cannot be read. A configuration that has one must not be used. */
export function findAccessProblems(config: Config): readonly AccessProblem[] {
  const { allowed_hosts: hosts, cors_origins: origins } = config.server;
  const lists = parsedLists(config).flatMap(({ key, problems }) =>
    problems.map(({ index, value, reason }) => ({ key: `${key}[${index}]`, value, reason })),
  );
  return [
    ...lists,
    ...unreadable(
      'server.allowed_hosts',
      hosts,
      parseAuthority,
      'not a host name; wildcards are not known here',
    ),
    ...unreadable(
      'server.cors_origins',
      origins,
      canonicalOrigin,
      'not an origin such as https://pc.example:8080',
    ),
  ];
}

function isLoopback(host: string): boolean {
  const address = parseAddress(host)?.text;
  return host === 'localhost' || address === '::1' || address?.startsWith('127.') === true;
}

function openNotice(config: Config): string {
  const { features, server } = config;
  const switches = Object.entries({
    sleep: features.enable_sleep,
    hibernate: features.enable_hibernate,
    restart: features.enable_restart,
    shutdown: features.enable_shutdown,
    media: features.enable_media,
    'process list': features.enable_processes,
    'process control': features.enable_process_control,
  });
  const named = (isOn: boolean) =>
    switches.flatMap(([name, value]) => (value === isOn ? [name] : [])).join(', ') || 'nothing';
  return (
    `anyone who can reach this machine may use the service: auth.enabled is false and server.host is ${server.host} ` +
    `(${named(true)}: on; ${named(false)}: off). Set auth.enabled and auth.api_key, or server.host to 127.0.0.1. ` +
    'Do not forward a port of your router to it; use a VPN to reach it from outside.'
  );
}

/** What the log says at the start and after a reload. */
export function accessNotices(config: Config): readonly AccessNotice[] {
  const { auth, server } = config;
  const key = auth.api_key ?? '';
  const notices: AccessNotice[] = parsedLists(config).flatMap((list) =>
    list.warnings.map((text) => ({ level: 'warn', text: `${list.key}: ${text}` }) as const),
  );
  if (auth.enabled && key === '') {
    notices.push({
      level: 'error',
      text: 'auth.enabled is true but there is no auth.api_key: no key can match',
    });
  }
  if (key !== '' && key.length < MIN_KEY_LENGTH) {
    notices.push({ level: 'warn', text: `auth.api_key is shorter than ${MIN_KEY_LENGTH} characters` });
  }
  if (!auth.enabled && !isLoopback(server.host)) notices.push({ level: 'warn', text: openNotice(config) });
  return notices;
}
