/** The rows of `notify`. */

import type { PemFile } from '../../tls/pair.ts';
import { SEVERITIES } from '../../wire/severities.ts';
import { ID, integer, isBrokerUrl, PIN, seconds, text } from './forms.ts';
import { choiceRow, type Entry, type EntryIn, fileRow, namedRow, optional, row, secretRow } from './row.ts';

/** `http://` or `https://`, a host, perhaps a port, a path and a query; no user, no password. */
function isTargetUrl(url: string): boolean {
  const [, secure = '', place = '', rest = ''] = /^http(s?):\/\/([^/?#]+)([/?][!-~]*)?$/u.exec(url) ?? [];
  return isBrokerUrl(`mqtt${secure}://${place}`) && !rest.includes('#');
}

const URL_FORM = text(
  'http://HOST or https://HOST, with a port where it is not 80 or 443, and perhaps a path; a user and a password belong in token_file',
  isTargetUrl,
);

/** Returns what is missing in an entry of which each value is right, or does not belong there. */
function whyContradictory(entry: Entry): string | undefined {
  const { type, url, topic, priority, pin, ca } = entry;
  if (typeof url !== 'string') return 'expected the key url, with the address of the receiver';
  const isOf = (...types: readonly unknown[]) => types.includes(type);
  if (url.includes('?') && !isOf('webhook'))
    return 'the url of a server has no query; leave out what follows the question mark';
  if (isOf('ntfy') && topic === undefined) return 'ntfy needs topic; set it too';
  if (!isOf('ntfy') && topic !== undefined) return 'topic is used with ntfy only; leave it out';
  if (isOf('gotify') && entry['token_file'] === undefined)
    return 'gotify needs token_file, with the token of an application; set it too';
  if (!isOf('webhook') && entry['key_file'] !== undefined)
    return 'key_file is used with webhook only; a token belongs in token_file';
  if (priority !== undefined && !isOf('ntfy', 'gotify'))
    return 'priority is used with ntfy and gotify only; leave it out';
  if (isOf('ntfy') && priority !== undefined && (Number(priority) < 1 || Number(priority) > 5))
    return 'priority of ntfy is a whole number from 1 to 5; correct it';
  if (pin !== undefined && ca !== undefined) return 'pin and ca contradict each other; leave one out';
  const ofTls = pin !== undefined ? 'pin' : ca !== undefined ? 'ca' : undefined;
  return ofTls !== undefined && !url.startsWith('https:')
    ? `${ofTls} is used with TLS only; write https:// in its url`
    : undefined;
}

/** A receiver of events (`notify.targets`). */
export type TargetEntry = EntryIn<typeof TARGETS_ROW>;
const TARGETS_ROW = namedRow(
  {
    keys: {
      type: choiceRow(['alertmanager', 'webhook', 'ntfy', 'gotify'], 'webhook', 'The kind of the receiver.', {
        defaultInWords: 'required',
      }),
      url: optional(
        URL_FORM,
        'Where the receiver is; of `webhook` the whole address, of the others the address of the server. It is not shown: the path of a webhook is often a secret.',
        { defaultInWords: 'required', isSecret: true },
      ),
      token_file: secretRow(
        'key',
        'token',
        `A file that holds the token that is sent along: to Gotify that of the application (required), to the others as \`Authorization: Bearer\`.`,
      ),
      key_file: secretRow(
        'signing keys',
        'keys',
        `With \`webhook\`: a file that holds the keys that each message is signed with, \`whsec_BASE64\`, one per line: two while the receiver changes from one to the other.`,
      ),
      topic: optional(ID, 'With `ntfy`: the topic. Required there.'),
      priority: optional<number>(
        integer(0, 10),
        'With `ntfy` (1 to 5) and `gotify` (0 to 10): the priority of all beginnings.',
        { defaultInWords: 'by severity' },
      ),
      ca: fileRow<PemFile>(
        'authorities',
        'the path of a PEM file with the certificates of authorities',
        "With `https://`: the authorities that the receiver's certificate is checked with, in PEM form. Without it: those that Node knows.",
      ),
      pin: optional(
        PIN,
        "With `https://`, instead of `ca`: the pin of the receiver's key; names and dates of its certificate do not matter then.",
      ),
      min_severity: choiceRow(SEVERITIES, 'warning', 'The lowest severity that is sent.'),
    },
    required: 'type',
    requires: 'the kind of the receiver',
    check: whyContradictory,
  },
  'a map of names to {type, url, token_file, key_file, topic, priority, ca, pin, min_severity}',
  'The receivers that events are sent to (docs/notifications.md).',
);

export const NOTIFY_ROWS = {
  targets: TARGETS_ROW,
  batch_seconds: row(
    seconds(0, 3600),
    30,
    'How long the beginning of an event is held back. What has ended by then is one message.',
  ),
  grace_seconds: row(seconds(0, 3600), 60, 'How long a machine must be down before that is sent.'),
  max_per_hour: row(
    integer(2, 10_000),
    20,
    'The maximum number of messages per hour to a target; the last one counts the rest. Not for `alertmanager`, which has limits of its own.',
  ),
  heartbeat: {
    url: optional(
      URL_FORM,
      'An address that is requested while the service reads its machine without errors, of Healthchecks or Uptime Kuma. It is not shown.',
      { isSecret: true },
    ),
    interval_seconds: row(seconds(10, 86_400), 60, 'Seconds between two of these requests.'),
  },
};
