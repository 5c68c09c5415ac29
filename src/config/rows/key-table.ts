/** Every configuration key once: its type, default, checks, normalisation and documentation are one row of a table. */
import { isIPv4 } from 'node:net';
import { LOG_FORMATS, LOG_LEVELS } from '../../log/format.ts';
import { parseMac, WAKE_PORT } from '../../wake/packet.ts';
import { AUTH_ROWS } from './auth-rows.ts';
import {
  ABSOLUTE_PATH,
  HOST_NAMES,
  ID,
  integer,
  isArgument,
  isHostName,
  isListenHost,
  number,
  ORIGINS,
  text,
  textMap,
  texts,
} from './forms.ts';
import { HOST_LABELS_ROW, HUB_ROWS } from './hub-rows.ts';
import { BROKERS_ROW, MQTT_ROWS } from './mqtt-rows.ts';
import { NOTIFY_ROWS } from './notify-rows.ts';
import {
  addressesRow,
  booleanRow,
  choiceRow,
  type EntryIn,
  namedRow,
  namesRow,
  optional,
  pemRow,
  type Row,
  row,
} from './row.ts';
import { WATCH_ROW } from './watch-rows.ts';

const PORT = integer(0, 65_535);
const COUNT = integer(0, 1_000_000);

/** A limit for each client address. */
const limitRow = (fallback: number, what: string) =>
  row(
    COUNT,
    fallback,
    `The maximum number of ${what}; an IPv6 /64 network may have four times as many. 0: no limit.`,
  );

/** An app that clients may start by name (`processes.launch`). */
export type LaunchEntry = EntryIn<typeof LAUNCH_ROW>;
const LAUNCH_ROW = namedRow(
  {
    keys: {
      command: row(ABSOLUTE_PATH, '', 'The program to start: an absolute path.', {
        defaultInWords: 'required',
      }),
      args: row<readonly string[]>(
        texts('a list of strings', isArgument),
        [],
        'Arguments that are always passed.',
      ),
      cwd: optional(ABSOLUTE_PATH, 'The folder it starts in.', { defaultInWords: "the service's" }),
      env: row<Readonly<Record<string, string>>>(
        textMap(
          'a map of variable names to strings',
          (name, value) => /^[A-Za-z_][A-Za-z0-9_]*$/u.test(name) && isArgument(value),
        ),
        {},
        'Environment variables that are added.',
        { isSecret: true },
      ),
      allow_args: booleanRow(false, 'Whether clients may add arguments of their own.'),
    },
    required: 'command',
    requires: 'an absolute path',
  },
  'a map of app names to {command, args, cwd, env, allow_args}',
  'Apps that clients may start by name; see below.',
);

/** A machine that clients may wake by name (`wake.hosts`). */
export type WakeEntry = EntryIn<typeof WAKE_ROW>;
const WAKE_ROW = namedRow(
  {
    keys: {
      mac: row(
        text(
          'the MAC address of a network card, such as "02:00:5e:10:00:00", in quotes',
          (mac) => parseMac(mac) !== undefined,
        ),
        '',
        'The MAC address of its network card, in quotes.',
        { defaultInWords: 'required' },
      ),
      broadcast: optional(
        text('an IPv4 address, in quotes', isIPv4),
        'The only IPv4 address that its packet is sent to, such as the broadcast address of another network that a router lets through.',
        { defaultInWords: "each interface's own" },
      ),
      port: row(integer(1, 65_535), WAKE_PORT, 'The UDP port that its packet is sent to.'),
    },
    required: 'mac',
    requires: 'a MAC address',
    short: 'mac',
  },
  'a map of names to MAC addresses or {mac, broadcast, port}',
  'Machines that may be woken by name: a MAC address, or the keys below.',
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
  auth: AUTH_ROWS,
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
      HOST_NAMES,
      'Further host names of this machine, for requests without a key. Its own name passes, alone or with a local suffix.',
    ),
    cors_origins: namesRow(
      ORIGINS,
      'Origins (scheme, host and port) of web pages that may read and control without a key.',
    ),
    trusted_proxies: addressesRow(
      'a list of addresses or CIDR ranges, in quotes',
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
        'The private key of the certificate, in PEM form, without a passphrase. Reloaded when it changes.',
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
  history: {
    minutes: row(
      integer(0, 1440),
      60,
      'How long readings are kept in memory (docs/history.md). 0: nothing is recorded, and nothing is read without subscribers.',
    ),
    idle_interval_seconds: row(
      number(
        '0, or a number of seconds from 1 to 3600',
        (seconds) => seconds === 0 || (seconds >= 1 && seconds <= 3600),
      ),
      10,
      'Seconds between two readings without subscribers. 0: none then.',
    ),
    on_battery: booleanRow(
      false,
      'Whether these readings continue while the machine runs on battery. Otherwise only the battery is read then, once per minute.',
    ),
    path: optional(
      ABSOLUTE_PATH,
      'The file that the history is kept in beyond memory and restarts. Without one nothing is written.',
      { needsRestart: true },
    ),
    max_megabytes: row(
      integer(8, 1_048_576),
      256,
      'The maximum size of that file, in MiB; the oldest is deleted.',
    ),
  },
  mqtt: MQTT_ROWS,
  wake: { hosts: WAKE_ROW },
  hub: { ...HUB_ROWS, brokers: BROKERS_ROW },
  watch: {
    defaults: booleanRow(
      true,
      'Whether the rules that ship ready are in effect, beside those of `watch.rules` (docs/history.md).',
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
