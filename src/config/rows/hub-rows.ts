/** The rows of `hub`, and `host.labels`. */

import type { Scope } from '../../scopes.ts';
import { MEDIA_ACTIONS, POWER_ACTIONS } from '../../wire/requests.ts';
import {
  ABSOLUTE_PATH,
  BOOLEAN,
  each,
  isBrokerUrl,
  isId,
  namesOf,
  PIN,
  SCOPE_LIST,
  some,
  text,
  textMap,
  texts,
} from './forms.ts';
import {
  addressesRow,
  clientsRow,
  type Entry,
  type EntryIn,
  namedRow,
  optional,
  type Row,
  row,
  secretRow,
} from './row.ts';

const isLabel = (name: string, value: string) =>
  isId(name) && /^[^\s\p{C}](?:[^\p{C}]{0,62}[^\s\p{C}])?$/u.test(value);
const LABELS = 'a map of at most 16 labels: names of 1 to 64 letters, digits, "_" and "-", texts';

const labelsRow = (meaning: string, more: Partial<Pick<Row<unknown>, 'expected' | 'needsRestart'>> = {}) =>
  row<Readonly<Record<string, string>>>(
    textMap(`${LABELS} of 1 to 64 characters`, isLabel, 16),
    {},
    meaning,
    more,
  );

const HUB_URL = 'ws://HOST or wss://HOST, with a port where it is not 80 or 443, and perhaps a path';
/** `ws://` or `wss://`, a host, perhaps a port, and perhaps a path. */
function isHubUrl(url: string): boolean {
  const [, secure, place = '', path = ''] = /^ws(s?):\/\/([^/]+)(\/.*)?$/u.exec(url) ?? [];
  return isBrokerUrl(`mqtt${secure ?? ''}://${place}`) && /^(?:\/[A-Za-z0-9._~-]+)*\/?$/u.test(path);
}
const isUrl = (value: unknown) => typeof value === 'string' && isHubUrl(value);

/** The hubs of `hub.url`. */
export const urlsOf = (url: string | readonly string[] | undefined): readonly string[] =>
  typeof url === 'string' ? [url] : (url ?? []);

export const HOST_LABELS_ROW = labelsRow(
  'Labels that viewers of a hub may filter by, such as `site: berlin` (`mqtt.publish: hub`).',
  { needsRestart: true },
);

/** Returns why the keys contradict each other: an entry is for one direction. */
function whyContradictory({ url, dials_in: dialsIn, key_file: key, pin }: Entry) {
  if (dialsIn !== true) {
    if (url === undefined) return 'expected the key url, or dials_in: true where the machine connects';
    const isPlain = pin !== undefined && !String(url).startsWith('https:');
    return isPlain ? 'pin is used with TLS only; write https:// in its url' : undefined;
  }
  if (url !== undefined)
    return 'url and dials_in contradict each other; leave url out if the machine connects to this hub';
  if (pin !== undefined)
    return 'pin belongs to url; a machine that dials in has the pin of this hub in hub.pin';
  if (key === undefined) return 'dials_in needs key_file, with the key that "hostwire keygen" has made';
  return undefined;
}

/** A service whose machine the hub shows (`hub.agents`): one with a `url`, or one that dials in and has a key. */
export type AgentEntry = EntryIn<typeof AGENTS_ROW>;
const AGENTS_ROW = namedRow(
  {
    keys: {
      url: optional(
        text(
          'http://HOST or https://HOST, with a port where it is not 80 or 443, and nothing after it',
          (url) => /^https?:/u.test(url) && isBrokerUrl(url.replace(/^http/u, 'mqtt')),
        ),
        'Where its service is: `http://pc1.lan:9990`, or `https://…`.',
        // It may have a password before an @.
        { defaultInWords: 'required, or `dials_in`', mayBeSecret: true },
      ),
      dials_in: optional<boolean>(
        BOOLEAN,
        'The machine connects to this hub, with `hub.url` in its own configuration. Such an entry has no `url`, and needs `key_file`.',
        { defaultInWords: '`false`' },
      ),
      key_file: secretRow(
        (entry) => (entry['dials_in'] === true ? 'long key' : 'key'),
        'key',
        'A file that holds its key: with `url` that of its `auth.api_key`; with `dials_in` the same as its `hub.key_file`, of at least 32 characters.',
      ),
      pin: optional(
        PIN,
        'With `https://`: the pin of its key, which `hostwire doctor` and `hostwire keygen --tls` print there. Without it an authority that Node knows must have signed its certificate.',
      ),
      name: optional(
        text('1 to 64 characters without control characters', (name) => /^[^\p{C}]{1,64}$/u.test(name)),
        'Its name in lists, and in paths beside its id.',
        { defaultInWords: 'its host name' },
      ),
      labels: labelsRow('Labels that viewers may filter by, such as `site: berlin`.'),
    },
    required: 'url',
    orElse: 'dials_in',
    requires: 'an http:// or https:// URL',
    short: 'url',
    names: { isRight: isId, words: 'letters, digits, "_" or "-"' },
    check: whyContradictory,
  },
  'a map of ids to URLs or {url, dials_in, key_file, pin, name, labels}',
  'For `hostwire hub`: the services whose machines it shows, by id; a URL, or the keys below (docs/hub.md).',
);

const ONE_BY_ONE = [
  ...MEDIA_ACTIONS.map((action) => `media.${action}`),
  ...[...POWER_ACTIONS, 'cancel'].map((action) => `power.${action}`),
  'process.kill',
  'process.launch',
  'wake.wake',
];
const COMMANDS = ['*', 'media.*', 'power.*', 'process.*', 'wake.*', ...ONE_BY_ONE];

/** A rule that allows clients to run commands on machines (`hub.commands`); what is absent is not judged. */
export type CommandRule = EntryIn<typeof COMMANDS_ROW>;
const COMMANDS_ROW = namedRow(
  {
    keys: {
      commands: row<readonly string[]>(
        some(
          namesOf(
            'command',
            COMMANDS,
            'a list of commands, such as "media.*" or "power.sleep", or "*" for all',
          ),
        ),
        [],
        'The allowed commands: `media.play`, `media.*` for all of a group (`media`, `power`, `process`, `wake`), `*` for everything.',
        { defaultInWords: 'required' },
      ),
      clients: clientsRow,
      keys: optional<readonly string[]>(
        some(texts('a list of names of keys', isId)),
        'For clients that sent a key of this name only; that of `auth.api_key` is `default`.',
        { defaultInWords: 'with or without a key' },
      ),
      hosts: optional<readonly string[]>(
        some(texts('a list of ids of machines', isId)),
        'On these machines only.',
        { defaultInWords: 'every machine' },
      ),
      labels: labelsRow('On machines with all of these labels only.', { expected: LABELS }),
    },
    required: 'commands',
    requires: 'a list of commands',
  },
  'a map of names to {commands, clients, keys, hosts, labels}',
  'For `hostwire hub`: the rules by which clients may have commands carried out on its machines; one must allow all of it. Without a rule no client may.',
);

/** The rows of `hub` but for `hub.brokers`. */
export const HUB_ROWS = {
  url: optional<string | readonly string[]>(
    {
      accepts: (value) => (Array.isArray(value) ? value.length > 0 : isUrl(value)),
      type: 'string, or list of strings',
      expected: HUB_URL,
      items: each((entry) => (isHubUrl(entry) ? undefined : `expected ${HUB_URL}`)),
    },
    'For `hostwire run`: the hub that this machine connects to, or a list of hubs, where they cannot connect to it (docs/hub.md): `wss://hub.lan:9980`. A path is what a proxy in front of the hub removes. Needs `hub.key_file`.',
    // It may have a password before an @.
    { mayBeSecret: true },
  ),
  key_file: secretRow(
    'long key',
    'key',
    'For `hostwire run`: a file that holds the key that this machine sends to the hub of `hub.url`; at least 32 characters, as `hostwire keygen` prints.',
  ),
  pin: optional(
    PIN,
    "For `hostwire run`, with `wss://`: the pin of the hub's key, which `hostwire doctor` and `hostwire keygen --tls` print there. Without it an authority that Node knows must have signed its certificate.",
  ),
  scopes: row<readonly Scope[]>(
    some(SCOPE_LIST),
    ['read', 'media'],
    'For `hostwire run`: what the hubs of `hub.url`, and those at the broker (`mqtt.publish: hub`), may do here for their own clients (docs/keys.md).',
  ),
  plain_networks: addressesRow(
    'a list of addresses and CIDR ranges',
    'For `hostwire run`: where the hub of `hub.url` may be with `ws://`, without TLS, beside this machine: `192.168.1.0/24`. The key, all samples and all commands cross such a network unencrypted.',
  ),
  agents: AGENTS_ROW,
  state_path: optional(
    ABSOLUTE_PATH,
    'For `hostwire hub`: the file in which it remembers its machines over restarts (docs/hub.md). Its folder must exist. Without one it remembers them in memory.',
    { needsRestart: true },
  ),
  commands: COMMANDS_ROW,
};
