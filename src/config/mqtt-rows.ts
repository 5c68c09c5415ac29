/** The rows of `mqtt`. */
import * as v from 'valibot';
import { configRow, pemRow, type Row } from './rows.ts';
import { isBrokerUrl, isFileName, isTopic } from './values.ts';

/** A file with a secret, and the secret. */
export interface SecretFile {
  readonly path: string;
  readonly secret: string;
}

/** Whether a value of the configuration is one. */
export function isSecretFile(value: unknown): value is SecretFile {
  return typeof value === 'object' && value !== null && 'secret' in value && 'path' in value;
}

const NAME = v.pipe(v.string(), v.regex(/^[^\s\p{C}](?:[^\p{C}]{0,254}[^\s\p{C}])?$/u));
const TOPIC = v.pipe(v.string(), v.check(isTopic));
const LEVELS = '1 to 128 characters: levels of letters, digits, "_", "-" and "." with slashes between them';

const textRow = (schema: v.GenericSchema<string>, expected: string, meaning: string) =>
  configRow<string | undefined>(schema, undefined, {
    type: 'string',
    expected,
    meaning,
    defaultInWords: 'none',
  });

const PASSWORD_ROW: Row<SecretFile | undefined> = {
  schema: v.pipe(v.string(), v.check(isFileName)),
  default: undefined,
  type: 'string',
  expected: 'the path of a file that holds the password',
  meaning:
    'A file that holds the password (at most 4 KiB; a trailing newline is cut). Nobody but its owner and its group may read it. A relative path starts at the folder of the file that names it.',
  defaultInWords: 'none',
  // The password may have been written in place of the path.
  mayBeSecret: true,
};

const CA_ROW = pemRow(
  'the certificates of authorities',
  "The authorities that the broker's certificate is checked with, in PEM form, for `mqtts`. Without it: those that Node knows.",
);

/** `prefix`: of the keys for user and password. */
const urlRow = (prefix: string, meaning: string) =>
  configRow<string | undefined>(v.pipe(v.string(), v.check(isBrokerUrl)), undefined, {
    type: 'string',
    expected: `mqtt://HOST or mqtts://HOST, with a port where it is not 1883 or 8883; user and password belong in ${prefix}.username and ${prefix}.password_file`,
    meaning,
    defaultInWords: 'none',
    // It may have a password before an @.
    mayBeSecret: true,
  });

export const MQTT_ROWS = {
  url: urlRow(
    'mqtt',
    'The MQTT broker that readings are published to and commands are taken from (docs/mqtt.md): `mqtt://broker.lan`, or `mqtts://broker.lan` for TLS. Without it there is no MQTT.',
  ),
  username: textRow(NAME, '1 to 256 characters', 'The user name at the broker.'),
  password_file: PASSWORD_ROW,
  ca: CA_ROW,
  client_id: {
    ...textRow(
      NAME,
      '1 to 256 characters',
      'The client id. No other client of the broker may have it. With `mqtt.publish: both` the connection for hubs adds `-hub`.',
    ),
    defaultInWords: '`hostwire-` and the id of the machine',
  },
  publish: configRow<'homeassistant' | 'hub' | 'both'>(
    v.picklist(['homeassistant', 'hub', 'both']),
    'homeassistant',
    {
      type: 'string',
      expected: '"homeassistant", "hub" or "both"',
      meaning:
        'What is published: readings and the device for Home Assistant, what hubs ask for (docs/hub-protocol.md), or both.',
    },
  ),
  topic: configRow(TOPIC, 'hostwire', {
    type: 'string',
    expected: LEVELS,
    meaning: 'What all topics begin with; the id of the machine (`host.id`) follows.',
  }),
  discovery_prefix: configRow(v.union([v.literal(''), TOPIC]), 'homeassistant', {
    type: 'string',
    expected: `${LEVELS}; or ""`,
    meaning: 'Where Home Assistant looks for devices. `""`: nothing is announced.',
  }),
  interval_seconds: configRow(v.pipe(v.number(), v.finite(), v.minValue(1), v.maxValue(86_400)), 15, {
    type: 'number',
    expected: 'a number of seconds from 1 to 86400',
    meaning: 'Seconds between two readings that are published. Home Assistant records each of them.',
  }),
};

/** Of `hub.mqtt`. */
export const HUB_MQTT_ROWS = {
  url: urlRow(
    'hub.mqtt',
    'For `hostwire hub`: the MQTT broker over which agents with `mqtt.publish: hub` report (docs/hub.md): `mqtt://broker.lan`, or `mqtts://broker.lan` for TLS.',
  ),
  name: {
    ...textRow(
      v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,64}$/)),
      '1 to 64 letters, digits, "_" and "-"',
      'The name of this hub, in topics. Each hub of a broker has one of its own, which is also its user there.',
    ),
    defaultInWords: '`hub.mqtt.username`, or `hub`',
  },
  username: MQTT_ROWS.username,
  password_file: PASSWORD_ROW,
  ca: CA_ROW,
  topic: configRow(TOPIC, 'hostwire', {
    type: 'string',
    expected: LEVELS,
    meaning: 'What the topics of all agents begin with: their `mqtt.topic`.',
  }),
};
