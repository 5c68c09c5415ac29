/** The rows of `hub`. */
import * as v from 'valibot';
import { parseAddressList } from '../access/addresses.ts';
import type { SecretFile } from './mqtt-rows.ts';
import { configRow, namedRow, type Row } from './rows.ts';
import { isAgentUrl, isFileName, isHubUrl, isLabels } from './values.ts';

/** A service whose machine the hub shows (`hub.agents`): one with a `url`, or one that dials in and has a key. */
export interface AgentEntry {
  readonly url?: string;
  readonly dials_in?: boolean;
  readonly key_file?: SecretFile;
  readonly pin?: string;
  readonly labels: Readonly<Record<string, string>>;
}

const PIN = v.pipe(v.string(), v.regex(/^sha256\/[A-Za-z0-9+/]{43}=$/));

const labelsRow = (meaning: string, more: { readonly needsRestart?: true } = {}) =>
  configRow<Readonly<Record<string, string>>>(
    v.custom<Record<string, string>>(isLabels),
    {},
    {
      type: 'map of strings',
      expected:
        'a map of at most 16 labels: names of 1 to 64 letters, digits, "_" and "-", texts of 1 to 64 characters',
      meaning,
      ...more,
    },
  );

const keyFileRow = <T = string | undefined>(meaning: string): Row<T | undefined> => ({
  schema: v.pipe(v.string(), v.check(isFileName)),
  default: undefined,
  type: 'string',
  expected: 'the path of a file that holds the key',
  meaning: `${meaning} At most 4 KiB; a trailing newline is cut. Nobody but its owner and its group may read it. A relative path starts at the folder of the file that names it.`,
  defaultInWords: 'none',
  // The key may have been written in place of the path.
  mayBeSecret: true,
});

const pinRow = (meaning: string) =>
  configRow<string | undefined>(PIN, undefined, {
    type: 'string',
    expected: 'a pin, sha256/BASE64',
    meaning,
    defaultInWords: 'none',
  });

/** The keys of `hub` by which a service dials a hub: those of the role `run`. */
export const DIAL_ROWS = {
  url: configRow<string | undefined>(v.pipe(v.string(), v.check(isHubUrl)), undefined, {
    type: 'string',
    expected: 'ws://HOST or wss://HOST, with a port where it is not 80 or 443, and perhaps a path',
    meaning:
      'For `hostwire run`: the hub that this machine connects to, where the hub cannot connect to it (docs/hub.md): `wss://hub.lan:9980`. A path is what a proxy in front of the hub removes. Needs `hub.key_file`.',
    defaultInWords: 'none',
    // It may have a password before an @.
    mayBeSecret: true,
  }),
  key_file: keyFileRow<SecretFile>(
    'For `hostwire run`: a file that holds the key with which this machine and the hub of `hub.url` prove themselves to each other; at least 32 characters, as `hostwire keygen` prints.',
  ),
  pin: pinRow(
    "For `hostwire run`, with `wss://`: the pin of the hub's key, which `hostwire doctor` and `hostwire keygen --tls` print there. Without it an authority that Node knows must have signed its certificate.",
  ),
};

/** `host.labels`. */
export const HOST_LABELS_ROW = labelsRow(
  'What viewers of a hub may filter by, such as `site: berlin` (`mqtt.publish: hub`).',
  { needsRestart: true },
);

/** The keys of one entry of `hub.agents`. */
export const AGENT_KEYS = {
  url: configRow<string | undefined>(v.pipe(v.string(), v.check(isAgentUrl)), undefined, {
    type: 'string',
    expected: 'http://HOST or https://HOST, with a port where it is not 80 or 443, and nothing after it',
    meaning:
      'Where its service is: `http://pc1.lan:9990`, or `https://…`. Required, unless the agent dials in.',
    defaultInWords: 'required, or `dials_in`',
    // It may have a password before an @.
    mayBeSecret: true,
  }),
  dials_in: configRow<boolean | undefined>(v.boolean(), undefined, {
    type: 'boolean',
    expected: 'true or false',
    meaning:
      'The agent connects to this hub, with `hub.url` in its own configuration. Such an entry has no `url`, and needs `key_file`.',
    defaultInWords: '`false`',
  }),
  key_file: keyFileRow(
    'A file that holds its key: with `url` that of its `auth.api_key`; with `dials_in` the same as its `hub.key_file`, of at least 32 characters.',
  ),
  pin: pinRow(
    'With `https://`: the pin of its key, which `hostwire doctor` and `hostwire keygen --tls` print there. Without it an authority that Node knows must have signed its certificate.',
  ),
  labels: labelsRow('What viewers may filter by, such as `site: berlin`.'),
};

/** An entry is for one direction. */
function whyContradictory({ url, dials_in: dialsIn, key_file: key, pin }: Readonly<Record<string, unknown>>) {
  if (dialsIn !== true)
    return url === undefined ? 'expected the key url, or dials_in: true where the agent connects' : undefined;
  if (url !== undefined)
    return 'url and dials_in contradict each other; leave url out if the agent connects to this hub';
  if (pin !== undefined)
    return 'pin belongs to url; an agent that dials in has the pin of this hub in hub.pin';
  if (key === undefined) return 'dials_in needs key_file, with the key that "hostwire keygen" has made';
  return undefined;
}

export const AGENTS_ROW: Row<Readonly<Record<string, AgentEntry>>> = namedRow<AgentEntry>(
  {
    keys: AGENT_KEYS,
    required: 'url',
    orElse: 'dials_in',
    requires: 'an http:// or https:// URL',
    short: 'url',
    names: { pattern: /^[A-Za-z0-9_-]{1,64}$/, words: 'letters, digits, "_" or "-"' },
    check: whyContradictory,
  },
  {
    expected: 'a map of ids to URLs or {url, dials_in, key_file, pin, labels}',
    meaning:
      'For `hostwire hub`: the services whose machines it shows, by id; a URL, or the keys below (docs/hub.md).',
  },
);

/** Who may have commands carried out on which machines of the hub (`hub.commands`). What is absent is not looked at. */
export interface CommandRule {
  /** `*`, `media.*` or `media.play`. */
  readonly commands: readonly string[];
  /** Addresses and CIDR ranges. */
  readonly clients?: readonly string[];
  /** Names of keys. */
  readonly keys?: readonly string[];
  /** Ids of `hub.agents`. */
  readonly hosts?: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

const COMMAND = v.pipe(v.string(), v.regex(/^(?:\*|[a-z]+\.(?:\*|[a-z_]+))$/));
const CLIENTS = v.pipe(
  v.array(v.string()),
  v.check((entries) => parseAddressList(entries, false).problems.length === 0),
);

/** A list that is absent stands for everything; an empty one would be a mistake. */
const listRow = (entry: v.GenericSchema<string>, expected: string, meaning: string) =>
  configRow<readonly string[] | undefined>(v.pipe(v.array(entry), v.minLength(1)), undefined, {
    type: 'list of strings',
    expected,
    meaning,
    defaultInWords: 'none',
  });

/** The keys of one entry of `hub.commands`. */
export const COMMAND_KEYS = {
  commands: configRow<readonly string[]>(v.pipe(v.array(COMMAND), v.minLength(1)), [], {
    type: 'list of strings',
    expected: 'a list of commands, such as "media.*" or "power.sleep", or "*" for all',
    meaning:
      'What is allowed: `media.play`, `media.*` for all of a group (`media`, `power`, `process`, `wake`), `*` for everything. Required.',
    defaultInWords: 'required',
  }),
  clients: configRow<readonly string[] | undefined>(v.pipe(CLIENTS, v.minLength(1)), undefined, {
    type: 'list of strings',
    expected: 'a list of addresses and CIDR ranges',
    meaning: 'For clients with these addresses only.',
    defaultInWords: 'any client',
  }),
  keys: {
    ...listRow(
      v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,64}$/)),
      'a list of names of keys',
      'For clients that sent a key of this name only; that of `auth.api_key` is `default`.',
    ),
    defaultInWords: 'with or without a key',
  },
  hosts: {
    ...listRow(
      v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,64}$/)),
      'a list of ids of machines',
      'On these machines only.',
    ),
    defaultInWords: 'every machine',
  },
  labels: configRow<Readonly<Record<string, string>>>(
    v.custom<Record<string, string>>(isLabels),
    {},
    {
      type: 'map of strings',
      expected: 'a map of at most 16 labels: names of 1 to 64 letters, digits, "_" and "-", texts',
      meaning: 'On machines with all of these labels only.',
    },
  ),
};

export const COMMANDS_ROW: Row<Readonly<Record<string, CommandRule>>> = namedRow<CommandRule>(
  {
    keys: COMMAND_KEYS,
    required: 'commands',
    requires: 'a list of commands',
  },
  {
    expected: 'a map of names to {commands, clients, keys, hosts, labels}',
    meaning:
      'For `hostwire hub`: the rules by which clients may have commands carried out on its machines; one must allow all of it. Without any nobody may.',
  },
);
