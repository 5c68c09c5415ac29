/** Every configuration key once: its type, default, check and documentation are one row of a table. */
import * as v from 'valibot';
import { LOG_FORMATS, type LogFormat } from '../log/format.ts';
import { LOG_LEVELS, type LogLevel } from '../log/log.ts';
import { HISTORY_ROWS } from './history-rows.ts';
import { AGENTS_ROW, COMMANDS_ROW, DIAL_ROWS, HOST_LABELS_ROW } from './hub-rows.ts';
import { LAUNCH_ROW } from './launch-rows.ts';
import { HUB_MQTT_ROWS, MQTT_ROWS } from './mqtt-rows.ts';
import { addressesRow, booleanRow, configRow, limitRow, namesRow, pemRow, type Row } from './rows.ts';
import { deepFreeze, isAbsolutePath, isArgument, isHostName, isListenHost, isPrintable } from './values.ts';
import { WAKE_ROW } from './wake-rows.ts';
import { WATCH_ROW } from './watch-rows.ts';

const PATH = v.pipe(v.string(), v.check(isAbsolutePath));
const ARGUMENT = v.pipe(v.string(), v.check(isArgument));
const PORT = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(65_535));
const API_KEY = v.pipe(v.string(), v.maxLength(1024), v.check(isPrintable));
const ADDRESSES = 'a list of addresses or CIDR ranges, in quotes';

/** The table, in the order of the documentation. */
export const KEYS = {
  stats: {
    stream_interval_seconds: configRow(v.pipe(v.number(), v.finite(), v.maxValue(86_400)), 2, {
      type: 'number',
      expected: 'a number of seconds from 1 to 86400',
      meaning: 'Seconds between stream messages. Below 1 counts as 1, with a warning.',
    }),
  },
  auth: {
    enabled: booleanRow(false, 'Turns the key and the allow list on.'),
    api_key: configRow<string | undefined>(API_KEY, undefined, {
      type: 'string',
      expected: '1 to 1024 printable ASCII characters without a space at either end',
      meaning: 'The shared key. Under 32 characters gets a warning; `hostwire keygen` makes one.',
      isSecret: true,
      defaultInWords: 'none',
    }),
    api_key_file: configRow<string | undefined>(v.pipe(ARGUMENT, v.nonEmpty()), undefined, {
      type: 'string',
      expected: 'the path of a file that holds the key',
      meaning:
        'A file that holds the key (at most 4 KiB; a trailing newline is cut), instead of `api_key`. A relative path starts at the folder of the file that names it.',
      defaultInWords: 'none',
      mayBeSecret: true,
    }),
    allowed_ips: addressesRow(
      'address or *',
      'a list of addresses, CIDR ranges or "*", in quotes',
      'Addresses that may connect while auth is on. A match with an address or a range skips the key; a match with `*` does not. Empty: no allow list.',
    ),
    blocked_ips: addressesRow('address', ADDRESSES, 'Addresses that are always refused, also with auth off.'),
    refuse_forwarded: booleanRow(
      true,
      'A forwarded request from a peer that is not a trusted proxy needs the key even if the allow list names the peer.',
    ),
  },
  features: {
    enable_sleep: booleanRow(true, 'Allows sleep (and the lock).'),
    enable_hibernate: booleanRow(true, 'Allows hibernate.', {
      defaultInWords: 'follows `features.enable_sleep`',
    }),
    enable_restart: booleanRow(false, 'Allows restart.'),
    enable_shutdown: booleanRow(false, 'Allows shutdown.'),
    enable_media: booleanRow(true, 'Media status and control.'),
    enable_processes: booleanRow(true, 'Listing processes.'),
    enable_process_control: booleanRow(
      false,
      'Ending and starting processes; command lines in process details.',
    ),
    enable_wake: booleanRow(false, 'Waking the machines of `wake.hosts`.'),
    enable_dashboard: booleanRow(true, 'The dashboard at `/`.'),
    enable_metrics: booleanRow(true, 'Metrics for Prometheus at `/metrics` (docs/metrics.md).'),
  },
  server: {
    host: configRow(v.pipe(v.string(), v.check(isListenHost)), '::', {
      type: 'string',
      expected: 'an address or a host name to listen on, without a port',
      meaning:
        'The address to listen on. `::` is every address of both families; without IPv6, `0.0.0.0` is used.',
      needsRestart: true,
    }),
    port: configRow(PORT, 9990, {
      type: 'integer',
      expected: 'a whole number from 0 to 65535',
      meaning: 'The port. 0 takes any free one.',
      needsRestart: true,
    }),
    engine: configRow<'auto' | 'uws' | 'node'>(v.picklist(['auto', 'uws', 'node']), 'auto', {
      type: 'string',
      expected: '"auto", "uws" or "node"',
      meaning:
        "The HTTP engine: `uws` is uWebSockets.js, `node` is Node's own (docs/engines.md). `auto`: uWebSockets.js where its binary loads, otherwise Node's.",
      needsRestart: true,
    }),
    max_streams: configRow(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(1_000_000)), 0, {
      type: 'integer',
      expected: 'a whole number from 0 to 1000000',
      meaning:
        'The maximum number of open streams. 0: as many as the descriptor limit allows, less a reserve.',
    }),
    max_connections_per_address: limitRow(512, 'connections'),
    max_streams_per_address: limitRow(256, 'open streams and WebSockets'),
    max_requests_per_address: limitRow(64, 'requests that wait for their answer'),
    max_kept_megabytes: configRow(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65_536)), 64, {
      type: 'integer',
      expected: 'a whole number from 1 to 65536',
      meaning:
        'The maximum of what is kept for clients that do not read or do not finish, in MiB; one address may take a quarter of it. Beyond it the connections that take most are cut.',
    }),
    allowed_hosts: namesRow(
      'host name',
      'a list of host names without scheme, port or path',
      'Further host names of this machine, for requests without a key. Its own name passes, alone or with a local suffix.',
    ),
    cors_origins: namesRow(
      'origin',
      'a list of origins such as "https://example.org"',
      'Origins (scheme, host and port) of web pages that may read and control without a key.',
    ),
    trusted_proxies: addressesRow(
      'address',
      ADDRESSES,
      'Proxies that are believed about their clients: X-Forwarded-For, X-Forwarded-Host and X-Forwarded-Proto.',
    ),
    tls: {
      cert: pemRow(
        'the certificate',
        'The certificate in PEM form, the certificates of its issuers after it. Set with `key`, the service speaks HTTPS. Reloaded when it changes.',
      ),
      key: pemRow(
        'the private key',
        'The private key of the certificate, in PEM form, without a passphrase. Nobody but its owner and its group may read it. Reloaded when it changes.',
      ),
      port: configRow<number | undefined>(PORT, undefined, {
        type: 'integer',
        expected: 'a whole number from 0 to 65535',
        meaning:
          'The port for HTTPS, beside plain HTTP on `server.port`. Without it `server.port` speaks HTTPS only.',
        needsRestart: true,
        defaultInWords: 'none',
      }),
    },
  },
  discovery: {
    mdns: booleanRow(
      false,
      'Announces the service on the network as `_hostwire._tcp` by mDNS, where it listens beyond loopback (docs/discovery.md).',
    ),
  },
  power: {
    backend: configRow<'system' | 'record'>(v.picklist(['system', 'record']), 'system', {
      type: 'string',
      expected: '"system" or "record"',
      meaning: '`record` carries nothing out and lists the actions it was asked for: for trials.',
      needsRestart: true,
    }),
  },
  processes: { launch: LAUNCH_ROW },
  history: HISTORY_ROWS,
  mqtt: MQTT_ROWS,
  wake: { hosts: WAKE_ROW },
  hub: { ...DIAL_ROWS, agents: AGENTS_ROW, commands: COMMANDS_ROW, mqtt: HUB_MQTT_ROWS },
  watch: { rules: WATCH_ROW },
  host: {
    root: configRow<string | undefined>(PATH, undefined, {
      type: 'string',
      expected: 'an absolute path',
      meaning:
        "Where the host's file system is mounted, for containers (read-only, say at `/host`): disks, processes and devices are the host's.",
      defaultInWords: 'none',
      needsRestart: true,
    }),
    name: configRow<string | undefined>(v.pipe(v.string(), v.check(isHostName)), undefined, {
      type: 'string',
      expected: 'a host name',
      meaning: 'The host name that is shown, and that the web guard lets through.',
      defaultInWords: "the machine's",
      needsRestart: true,
    }),
    id: configRow<string | undefined>(v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,64}$/)), undefined, {
      type: 'string',
      expected: '1 to 64 letters, digits, "_" and "-"',
      meaning:
        'The name of this machine in MQTT topics, and at a hub that it dials. Two machines with one id are one to other systems.',
      defaultInWords: "a digest of the machine's own id",
      needsRestart: true,
    }),
    labels: HOST_LABELS_ROW,
    proc: configRow(PATH, '/proc', {
      type: 'string',
      expected: 'an absolute path',
      meaning: "Where the machine's /proc is, for containers. Below `host.root` where that is set.",
      needsRestart: true,
    }),
    sys: configRow(PATH, '/sys', {
      type: 'string',
      expected: 'an absolute path',
      meaning: "Where the machine's /sys is, for containers. Below `host.root` where that is set.",
      needsRestart: true,
    }),
  },
  log: {
    level: configRow<LogLevel>(v.picklist(LOG_LEVELS), 'info', {
      type: 'string',
      expected: '"error", "warn", "info" or "debug"',
      meaning: 'The lowest severity that is logged.',
    }),
    format: configRow<LogFormat>(v.picklist(LOG_FORMATS), 'text', {
      type: 'string',
      expected: '"text" or "json"',
      meaning: 'The form of each line. `json`: an object with `time`, `level`, `message` and further fields.',
      needsRestart: true,
    }),
    file: configRow<string | undefined>(PATH, undefined, {
      type: 'string',
      expected: 'an absolute path',
      meaning:
        'A file for the audit trail: a line for each power, process, media and wake command. It is opened again on SIGHUP. Without one these lines go to the log.',
      defaultInWords: 'none',
      needsRestart: true,
    }),
  },
};

type Keys = typeof KEYS;
type Values<G> = { readonly [K in keyof G]: G[K] extends Row<infer T> ? T : Values<G[K]> };

/**
 * The checked configuration, deeply frozen. `auth.api_key` holds the key also when it came from
 * `auth.api_key_file` (which is then an absolute path); undefined: none is configured.
 */
export type Config = Values<Keys>;

/** Keys by name; a group may have groups. */
export interface KeyGroup {
  readonly [name: string]: Row<unknown> | KeyGroup;
}

export function isRow(entry: Row<unknown> | KeyGroup): entry is Row<unknown> {
  return Object.hasOwn(entry, 'schema');
}

/** The whole table, for code that walks it. */
export const KEY_GROUPS: Readonly<Record<string, KeyGroup>> = KEYS;

/** Dotted key → row, in the table's order. */
export const ROWS: ReadonlyMap<string, Row<unknown>> = new Map(listRows(KEYS, ''));

function listRows(group: KeyGroup, prefix: string): (readonly [string, Row<unknown>])[] {
  return Object.entries(group).flatMap(([name, entry]) => {
    const key = `${prefix}${name}`;
    return isRow(entry) ? [[key, entry] as const] : listRows(entry, `${key}.`);
  });
}

/** Whether a value satisfies its row. Entries of lists and of named maps are checked elsewhere as well. */
export function accepts({ schema }: Pick<Row<unknown>, 'schema'>, value: unknown): boolean {
  return v.is(schema, value);
}

/** Nests `dotted key → value`; a key that is missing has its value in `base`, or its default without one. */
export function toConfig(values: ReadonlyMap<string, unknown>, base?: Config): Config {
  const nest = (group: KeyGroup, prefix: string): object =>
    Object.fromEntries(
      Object.entries(group).map(([name, entry]) => {
        const key = `${prefix}${name}`;
        if (!isRow(entry)) return [name, nest(entry, `${key}.`)];
        if (values.has(key)) return [name, values.get(key)];
        return [name, base === undefined ? entry.default : readKey(base, key)];
      }),
    );
  // Every key of the table is there, and each value was checked by its row, from which Config is derived.
  return deepFreeze(nest(KEYS, '') as Config);
}

/** The value of a dotted key. */
export function readKey(config: Config, key: string): unknown {
  // Only keys of the table are asked for.
  return key
    .split('.')
    .reduce<unknown>((group, name) => (group as Readonly<Record<string, unknown>>)[name], config);
}

export const DEFAULT_CONFIG: Config = toConfig(new Map());
