/** Every configuration key once: its type, default, check, words and documentation are rows of one table. */
import * as v from 'valibot';
import { LOG_LEVELS, type LogLevel } from '../log.ts';
import {
  deepFreeze,
  isAbsolutePath,
  isArgument,
  isEnvironment,
  isListenHost,
  isMap,
  isPrintable,
} from './values.ts';

/** An app that clients may start by name (`processes.launch`). */
export interface LaunchEntry {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly allow_args: boolean;
}

/** How the entries of a list are judged, one by one. */
export type ItemKind = 'address' | 'address or *' | 'host name' | 'origin';

/** One key. `T` is the type of its value in `Config`. */
export interface Row<T> {
  /** What a value in a file must satisfy; entries of lists and of `processes.launch` are judged further. */
  readonly schema: v.GenericSchema;
  readonly default: T;
  /** The type in words, for the documents. */
  readonly type: string;
  /** Completes "expected …". */
  readonly expected: string;
  /** One line for the documents. */
  readonly meaning: string;
  readonly items?: ItemKind;
  /** A change takes effect only when the service starts again. */
  readonly needsRestart?: true;
  /** The value never appears in a message, a log or a print-out. */
  readonly isSecret?: true;
  /** A wrong value may be a secret in the wrong place: it is not shown. */
  readonly mayBeSecret?: true;
  /** Replaces the default in the documents where it is no literal. */
  readonly defaultInWords?: string;
}

type Words = Omit<Row<unknown>, 'schema' | 'default'>;

function row<T>(schema: v.GenericSchema<T>, fallback: T, words: Words): Row<T> {
  return { schema, default: fallback, ...words };
}

function flag(fallback: boolean, meaning: string, more: Partial<Words> = {}): Row<boolean> {
  return row(v.boolean(), fallback, { type: 'boolean', expected: 'true or false', meaning, ...more });
}

function list(items: ItemKind, expected: string, meaning: string): Row<readonly string[]> {
  // The entries are judged one by one, each with its line.
  return { schema: v.array(v.unknown()), default: [], type: 'list of strings', expected, meaning, items };
}

const PATH = v.pipe(v.string(), v.check(isAbsolutePath));
const ARGUMENT = v.pipe(v.string(), v.check(isArgument));
const API_KEY = v.pipe(v.string(), v.maxLength(1024), v.check(isPrintable));

/** The keys of one entry of `processes.launch`. */
export const LAUNCH_KEYS = {
  command: row(PATH, '', {
    type: 'string',
    expected: 'an absolute path',
    meaning: 'The program to start: an absolute path. Required.',
    defaultInWords: 'required',
  }),
  args: row<readonly string[]>(v.array(ARGUMENT), [], {
    type: 'list of strings',
    expected: 'a list of strings',
    meaning: 'Arguments it is always given.',
  }),
  cwd: row<string | undefined>(PATH, undefined, {
    type: 'string',
    expected: 'an absolute path',
    meaning: 'The folder it starts in.',
    defaultInWords: 'that of the service',
  }),
  env: row<Readonly<Record<string, string>>>(
    v.custom<Record<string, string>>(isEnvironment),
    {},
    {
      type: 'map of strings',
      expected: 'a map of variable names to strings',
      meaning: 'Environment variables added for it.',
      isSecret: true,
    },
  ),
  allow_args: flag(false, 'Whether clients may add arguments of their own.'),
};

const launch: Row<Readonly<Record<string, LaunchEntry>>> = {
  schema: v.custom<Readonly<Record<string, unknown>>>(isMap),
  // Without a prototype: a client's "constructor" must not find anything.
  default: Object.create(null),
  type: 'map',
  expected: 'a map of app names to {command, args, cwd, env, allow_args}',
  meaning: 'Apps that clients may start by name; see below.',
};

const addresses = 'a list of addresses or CIDR ranges, in quotes';

/** The table. The order is that of the documents. */
export const KEYS = {
  stats: {
    stream_interval_seconds: row(v.pipe(v.number(), v.finite(), v.maxValue(86_400)), 2, {
      type: 'number',
      expected: 'a number of seconds from 1 to 86400',
      meaning: 'Seconds between stream messages. Below 1 counts as 1, with a warning.',
    }),
  },
  auth: {
    enabled: flag(false, 'Turns the checks of key and allow list on.'),
    api_key: row<string | undefined>(API_KEY, undefined, {
      type: 'string',
      expected: '1 to 1024 printable ASCII characters without a space at either end',
      meaning: 'The shared key. Under 32 characters gets a warning; `hostwire keygen` makes one.',
      isSecret: true,
      defaultInWords: 'none',
    }),
    api_key_file: row<string | undefined>(v.pipe(ARGUMENT, v.nonEmpty()), undefined, {
      type: 'string',
      expected: 'the path of a file that holds the key',
      meaning:
        'A file that holds the key (at most 4 KiB; a trailing newline is cut), instead of `api_key`. A relative path starts at the folder of the file that names it.',
      defaultInWords: 'none',
      mayBeSecret: true,
    }),
    allowed_ips: list(
      'address or *',
      'a list of addresses, CIDR ranges or "*", in quotes',
      'Addresses let in while auth is on. A single address or a range skips the key; `*` does not. Empty: no allow list.',
    ),
    blocked_ips: list('address', addresses, 'Addresses refused always, also with auth off.'),
    refuse_forwarded: flag(
      true,
      'A forwarded request from a peer that is no trusted proxy does not skip the key through the allow list.',
    ),
  },
  features: {
    enable_sleep: flag(true, 'Allows sleep (and the lock).'),
    enable_hibernate: flag(true, 'Allows hibernate.', { defaultInWords: 'follows `features.enable_sleep`' }),
    enable_restart: flag(false, 'Allows restart.'),
    enable_shutdown: flag(false, 'Allows shutdown.'),
    enable_media: flag(true, 'Media status and control.'),
    enable_processes: flag(true, 'Listing of processes.'),
    enable_process_control: flag(false, 'Ending and starting of processes; command lines in their details.'),
    enable_dashboard: flag(true, 'The dashboard at `/`.'),
  },
  server: {
    host: row(v.pipe(v.string(), v.check(isListenHost)), '::', {
      type: 'string',
      expected: 'an address or a host name to listen on, without a port',
      meaning:
        'The address to listen on. `::` is every address of both families; where there is no IPv6, `0.0.0.0`.',
      needsRestart: true,
    }),
    port: row(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(65_535)), 9990, {
      type: 'integer',
      expected: 'a whole number from 0 to 65535',
      meaning: 'The port. 0 takes any free one.',
      needsRestart: true,
    }),
    max_streams: row(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(1_000_000)), 0, {
      type: 'integer',
      expected: 'a whole number from 0 to 1000000',
      meaning: 'Most streams at a time. 0: as many as the descriptor limit allows, less a reserve.',
    }),
    allowed_hosts: list(
      'host name',
      'a list of host names without scheme, port or path',
      'Further names this machine is called by, for requests without a key.',
    ),
    cors_origins: list(
      'origin',
      'a list of origins such as "https://example.org"',
      'Web pages (scheme, host and port) that may read and control without a key.',
    ),
    trusted_proxies: list('address', addresses, 'Proxies whose X-Forwarded-For is believed.'),
  },
  power: {
    backend: row<'system' | 'record'>(v.picklist(['system', 'record']), 'system', {
      type: 'string',
      expected: '"system" or "record"',
      meaning: '`record` does nothing and lists what it would have done: for trials.',
      needsRestart: true,
    }),
  },
  processes: { launch },
  host: {
    proc: row(PATH, '/proc', {
      type: 'string',
      expected: 'an absolute path',
      meaning: "Where the machine's /proc is, for containers.",
      needsRestart: true,
    }),
    sys: row(PATH, '/sys', {
      type: 'string',
      expected: 'an absolute path',
      meaning: "Where the machine's /sys is, for containers.",
      needsRestart: true,
    }),
  },
  log: {
    level: row<LogLevel>(v.picklist(LOG_LEVELS), 'info', {
      type: 'string',
      expected: '"error", "warn", "info" or "debug"',
      meaning: 'The least weighty lines that are written.',
    }),
  },
};

type Keys = typeof KEYS;
type Value<R> = R extends Row<infer T> ? T : never;

/**
 * The checked configuration, deeply frozen. `auth.api_key` holds the key also when it came from
 * `auth.api_key_file` (which is then an absolute path); undefined: none is configured.
 */
export type Config = {
  readonly [S in keyof Keys]: { readonly [K in keyof Keys[S]]: Value<Keys[S][K]> };
};

/** Section → key → row, for code that walks the whole table. */
export const SECTIONS: Readonly<Record<string, Readonly<Record<string, Row<unknown>>>>> = KEYS;

/** Dotted key → row, in the table's order. */
export const ROWS: ReadonlyMap<string, Row<unknown>> = new Map(
  Object.entries(SECTIONS).flatMap(([section, rows]) =>
    Object.entries(rows).map(([name, found]): [string, Row<unknown>] => [`${section}.${name}`, found]),
  ),
);

/** Whether a value satisfies its row. Entries of lists and of `processes.launch` are judged further elsewhere. */
export function accepts({ schema }: Pick<Row<unknown>, 'schema'>, value: unknown): boolean {
  return v.is(schema, value);
}

/** Nests `dotted key → value`; a key that is not there has its default. */
export function toConfig(values: ReadonlyMap<string, unknown>): Config {
  const sections = Object.entries(SECTIONS).map(([section, rows]) => {
    const entries = Object.entries(rows).map(([name, { default: fallback }]) => {
      const key = `${section}.${name}`;
      return [name, values.has(key) ? values.get(key) : fallback];
    });
    return [section, Object.fromEntries(entries)];
  });
  // Every key of the table is there, and each value was judged by its row, which is what Config is derived from.
  return deepFreeze(Object.fromEntries(sections) as Config);
}

export const DEFAULT_CONFIG: Config = toConfig(new Map());
