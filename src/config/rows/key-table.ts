/** Every configuration key once: its type, default, checks, normalisation and documentation are one row of a table. */
import { LOG_FORMATS, LOG_LEVELS } from '../../log/format.ts';
import { KEY_ROWS } from './auth-rows.ts';
import { HISTORY_ROWS } from './history-rows.ts';
import { AGENTS_ROW, COMMANDS_ROW, DIAL_ROWS, HOST_LABELS_ROW, STATE_PATH_ROW } from './hub-rows.ts';
import { LAUNCH_ROW } from './launch-rows.ts';
import { judgeAddresses, judgeAddressesOrAny, judgeHostNames, judgeOrigins } from './list-items.ts';
import { BROKERS_ROW, MQTT_ROWS } from './mqtt-rows.ts';
import { NOTIFY_ROWS } from './notify-rows.ts';
import { isArgument, isHostName, isListenHost, isPrintable } from './predicates.ts';
import {
  ABSOLUTE_PATH,
  addressesRow,
  booleanRow,
  choiceRow,
  ID,
  integer,
  namesRow,
  number,
  optional,
  pemRow,
  type Row,
  row,
  text,
} from './row.ts';
import { WAKE_ROW } from './wake-rows.ts';
import { WATCH_ROW } from './watch-rows.ts';

const PORT = integer(0, 65_535);
const COUNT = integer(0, 1_000_000);
const API_KEY = text(
  '1 to 1024 printable ASCII characters without a space at either end',
  (key) => key.length <= 1024 && isPrintable(key),
);
const ADDRESSES = 'a list of addresses or CIDR ranges, in quotes';

/** A limit for each client address. */
const limitRow = (fallback: number, what: string) =>
  row(
    COUNT,
    fallback,
    `The maximum number of ${what}; an IPv6 /64 network may have four times as many. 0: no limit.`,
  );

/** The table, in the order of the documentation. */
export const KEYS = {
  stats: {
    stream_interval_seconds: row(
      number('a number of seconds from 1 to 86400', (seconds) => seconds <= 86_400),
      2,
      'Seconds between stream messages. Values below 1 are raised to 1, with a warning.',
      { minimum: 1 },
    ),
  },
  auth: {
    enabled: booleanRow(false, 'Turns the key and the allow list on.'),
    api_key: optional(
      API_KEY,
      'The shared key. Under 32 characters gets a warning; `hostwire keygen` makes one.',
      { isSecret: true },
    ),
    api_key_file: optional(
      text('the path of a file that holds the key', (path) => path !== '' && isArgument(path)),
      'A file that holds the key (at most 4 KiB; a trailing newline is cut), instead of `api_key`. A relative path starts at the folder of the file that names it.',
      { file: 'shared key', sets: 'auth.api_key', mayBeSecret: true },
    ),
    ...KEY_ROWS,
    allowed_ips: addressesRow(
      judgeAddressesOrAny,
      'a list of addresses, CIDR ranges or "*", in quotes',
      'Addresses that may connect while auth is on. A match with an address or a range skips the key; a match with `*` does not. Empty: no allow list.',
    ),
    blocked_ips: addressesRow(
      judgeAddresses,
      ADDRESSES,
      'Addresses that are always refused, also with auth off.',
    ),
    refuse_forwarded: booleanRow(
      true,
      'A forwarded request from a peer that is not a trusted proxy needs the key even if the allow list names the peer.',
    ),
  },
  features: {
    enable_sleep: booleanRow(true, 'Allows sleep (and the lock).'),
    enable_hibernate: booleanRow(true, 'Allows hibernate.', {
      follows: 'features.enable_sleep',
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
    host: row(
      text('an address or a host name to listen on, without a port', isListenHost),
      '::',
      'The address to listen on. `::` is every address of both families; without IPv6, `0.0.0.0` is used.',
      { needsRestart: true },
    ),
    port: row(PORT, 9990, 'The port. 0 selects any free port.', { needsRestart: true }),
    engine: choiceRow(
      ['auto', 'uws', 'node'],
      'auto',
      "The HTTP engine: `uws` is uWebSockets.js, `node` is Node's own (docs/engines.md). `auto`: uWebSockets.js where its binary loads, otherwise Node's.",
      { needsRestart: true },
    ),
    max_streams: row(
      COUNT,
      0,
      'The maximum number of open streams. 0: as many as the descriptor limit allows, less a reserve.',
    ),
    max_connections_per_address: limitRow(2048, 'connections of one client address, with or without a key'),
    max_streams_per_address: limitRow(
      1024,
      'open streams and WebSockets of one client address without the key',
    ),
    max_requests_per_address: limitRow(
      1024,
      'requests that wait for their answer of one client address without the key',
    ),
    max_kept_megabytes: row(
      integer(1, 65_536),
      64,
      'The maximum that is buffered for clients that do not read or do not finish, in MiB; one address may use a quarter of it. Beyond it the connections that use most are closed.',
    ),
    allowed_hosts: namesRow(
      judgeHostNames,
      'a list of host names without scheme, port or path',
      'Further host names of this machine, for requests without a key. Its own name passes, alone or with a local suffix.',
    ),
    cors_origins: namesRow(
      judgeOrigins,
      'a list of origins such as "https://example.org"',
      'Origins (scheme, host and port) of web pages that may read and control without a key.',
    ),
    trusted_proxies: addressesRow(
      judgeAddresses,
      ADDRESSES,
      'Proxies whose X-Forwarded-For, X-Forwarded-Host and X-Forwarded-Proto headers are trusted.',
    ),
    tls: {
      cert: pemRow(
        'certificate',
        'the certificate',
        'The certificate in PEM form, the certificates of its issuers after it. Set with `key`, the service speaks HTTPS. Reloaded when it changes.',
      ),
      key: pemRow(
        'private key',
        'the private key',
        'The private key of the certificate, in PEM form, without a passphrase. Only its owner and its group may be able to read it. Reloaded when it changes.',
      ),
      port: optional<number>(
        PORT,
        'The port for HTTPS, beside plain HTTP on `server.port`. Without it `server.port` speaks HTTPS only.',
        { needsRestart: true },
      ),
    },
  },
  discovery: {
    mdns: booleanRow(
      false,
      'Announces the service on the network as `_hostwire._tcp` by mDNS, where it listens beyond loopback (docs/discovery.md).',
    ),
  },
  power: {
    backend: choiceRow(
      ['system', 'record'],
      'system',
      '`record` executes nothing and lists the requested actions, for trials.',
      { needsRestart: true },
    ),
  },
  processes: { launch: LAUNCH_ROW },
  history: HISTORY_ROWS,
  mqtt: MQTT_ROWS,
  wake: { hosts: WAKE_ROW },
  hub: {
    ...DIAL_ROWS,
    agents: AGENTS_ROW,
    state_path: STATE_PATH_ROW,
    commands: COMMANDS_ROW,
    brokers: BROKERS_ROW,
  },
  watch: {
    defaults: booleanRow(
      true,
      'Whether the rules that ship ready are in effect, beside those of `watch.rules` ([history.md](history.md#watch-rules)).',
    ),
    rules: WATCH_ROW,
  },
  notify: NOTIFY_ROWS,
  host: {
    root: optional(
      ABSOLUTE_PATH,
      "Where the host's file system is mounted, for containers (read-only, say at `/host`): disks, processes and devices are the host's.",
      { needsRestart: true },
    ),
    name: optional(
      text('a host name', isHostName),
      'The host name that is shown, and that the web guard lets through.',
      { defaultInWords: "the machine's", needsRestart: true },
    ),
    id: optional(
      ID,
      'The name of this machine in MQTT topics, and at a hub that it dials. Two machines with one id are one to other systems.',
      { defaultInWords: "a digest of the machine's own id", needsRestart: true },
    ),
    labels: HOST_LABELS_ROW,
    proc: row(
      ABSOLUTE_PATH,
      '/proc',
      "Where the machine's /proc is, for containers. Below `host.root` where that is set.",
      { needsRestart: true },
    ),
    sys: row(
      ABSOLUTE_PATH,
      '/sys',
      "Where the machine's /sys is, for containers. Below `host.root` where that is set.",
      { needsRestart: true },
    ),
  },
  log: {
    level: choiceRow(LOG_LEVELS, 'info', 'The lowest severity that is logged.'),
    format: choiceRow(
      LOG_FORMATS,
      'text',
      'The form of each line. `json`: an object with `time`, `level`, `message` and further fields.',
      { needsRestart: true },
    ),
    file: optional(
      ABSOLUTE_PATH,
      'A file for the audit trail: a line for each power, process, media and wake command. It is opened again on SIGHUP. Without one these lines go to the log.',
      { needsRestart: true },
    ),
  },
};

/** Keys by name; a group may have groups. */
export interface KeyGroup {
  readonly [name: string]: Row<unknown> | KeyGroup;
}

export function isRow(entry: Row<unknown> | KeyGroup): entry is Row<unknown> {
  return typeof entry['accepts'] === 'function';
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

/** `['server', 'port']` or `['server.port']` → `HOSTWIRE_SERVER_PORT`. */
export const variableOf = (path: readonly string[]) =>
  `HOSTWIRE_${path.join('_').replaceAll('.', '_').toUpperCase()}`;
