/** The rows of `mqtt`, and `hub.brokers`. */
import { ID, isBrokerUrl, isTopic, seconds, text } from './forms.ts';
import {
  choiceRow,
  type Entry,
  type EntryIn,
  namedRow,
  optional,
  pemRow,
  type Row,
  row,
  secretRow,
} from './row.ts';

const NAME = text('1 to 256 characters', (name) => /^[^\s\p{C}](?:[^\p{C}]{0,254}[^\s\p{C}])?$/u.test(name));
const LEVELS = '1 to 128 characters: levels of letters, digits, "_", "-" and "." with slashes between them';
const TOPIC = text(LEVELS, isTopic);

/** `prefix`: of the keys for user and password. */
const urlRow = (prefix: string, meaning: string, more: Partial<Pick<Row<unknown>, 'defaultInWords'>> = {}) =>
  optional(
    text(
      `mqtt://HOST or mqtts://HOST, with a port where it is not 1883 or 8883; user and password belong in ${prefix}.username and ${prefix}.password_file`,
      isBrokerUrl,
    ),
    meaning,
    // It may have a password before an @.
    { mayBeSecret: true, ...more },
  );

/** The keys that a service and a hub both have for their broker. */
const BROKER_ROWS = {
  username: optional(NAME, 'The user name at the broker.'),
  password_file: secretRow('password', 'password', 'A file that holds the password.'),
  ca: pemRow(
    'authorities',
    'the certificates of authorities',
    "The authorities that the broker's certificate is checked with, in PEM form, for `mqtts`. Without it: those that Node knows.",
  ),
};

export const MQTT_ROWS = {
  url: urlRow(
    'mqtt',
    'The MQTT broker for readings and commands (docs/mqtt.md): `mqtt://broker.lan`, or `mqtts://broker.lan` for TLS. Without it MQTT is off.',
  ),
  ...BROKER_ROWS,
  client_id: optional(
    NAME,
    'The client id. No other client of the broker may have it. With `mqtt.publish: both` the connection for hubs adds `-hub`.',
    { defaultInWords: '`hostwire-` and the id of the machine' },
  ),
  publish: choiceRow(
    ['homeassistant', 'hub', 'both'],
    'homeassistant',
    'Data to publish: readings and the device for Home Assistant, what hubs ask for (docs/hub.md), or both.',
  ),
  topic: row(TOPIC, 'hostwire', 'The prefix of all topics; the id of the machine (`host.id`) follows.'),
  discovery_prefix: row(
    text(`${LEVELS}; or ""`, (prefix) => prefix === '' || isTopic(prefix)),
    'homeassistant',
    'Where Home Assistant looks for devices. `""`: nothing is announced.',
  ),
  interval_seconds: row(
    seconds(1, 86_400),
    15,
    'Seconds between two readings that are published. Home Assistant records each of them.',
  ),
};

/** Returns what is missing in an entry of which each value is right, or does not belong there. */
function whyContradictory({ url, username, password_file: password, ca }: Entry) {
  if (password !== undefined && username === undefined) return 'password_file needs username; set it too';
  return ca !== undefined && !String(url).startsWith('mqtts:')
    ? 'ca is used with TLS only; write mqtts:// in its url'
    : undefined;
}

/** A broker at which a hub meets machines (`hub.brokers`). */
export type BrokerEntry = EntryIn<typeof BROKERS_ROW>;
export const BROKERS_ROW = namedRow(
  {
    keys: {
      url: urlRow(
        'hub.brokers.NAME',
        'Where the broker is: `mqtt://broker.lan`, or `mqtts://broker.lan` for TLS.',
        { defaultInWords: 'required' },
      ),
      name: optional(
        ID,
        'The name of this hub, in topics. Each hub of a broker has one of its own, which is also its user there.',
        { defaultInWords: '`username`, or `hub`' },
      ),
      ...BROKER_ROWS,
      topic: row(TOPIC, 'hostwire', 'The prefix of the topics of all machines: their `mqtt.topic`.'),
    },
    required: 'url',
    requires: 'an mqtt:// or mqtts:// URL',
    short: 'url',
    check: whyContradictory,
  },
  'a map of names to URLs or {url, name, username, password_file, ca, topic}',
  'For `hostwire hub`: the MQTT brokers over which machines with `mqtt.publish: hub` are reached, by any name; a URL, or the keys below (docs/hub.md).',
);
