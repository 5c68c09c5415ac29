/** The requests of the four kinds of targets: their addresses, headers and bodies. Pure. */
import { createHash, createHmac } from 'node:crypto';
import type { TargetEntry } from '../config/rows/notify-rows.ts';
import type { Severity } from '../wire/severities.ts';
import type { Message } from './message.ts';

export interface Form {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface FormContext {
  /** The name of the target. */
  readonly name: string;
  readonly entry: TargetEntry;
  /** The address of the dashboard, where there is one. */
  readonly link: string | undefined;
  /** Unix seconds of the attempt. */
  readonly now: number;
}

type MakeForm = (message: Message, context: FormContext) => Omit<Form, 'headers'> & Partial<Form>;

const FORMS: Readonly<Record<TargetEntry['type'], MakeForm>> = { alertmanager, webhook, ntfy, gotify };

export function formOf(message: Message, context: FormContext): Form {
  const { type, token_file: token } = context.entry;
  const bearer = type === 'gotify' || token === undefined ? {} : { Authorization: `Bearer ${token.secret}` };
  const { url, body, headers } = FORMS[type](message, context);
  return { url, body, headers: { 'Content-Type': 'application/json', ...bearer, ...headers } };
}

/** An alert that is not sent again ends by itself: Prometheus too gives it four of its intervals, of a minute here. */
const LASTS_SECONDS = 240;
const TEST_SECONDS = 60;

/** `path`: below the address of a server, which may have one of its own. */
const below = ({ url = '' }: TargetEntry, path: string) => `${url.replace(/(?<!\/)\/+$/, '')}${path}`;
const iso = (unixSeconds: number) => new Date(unixSeconds * 1000).toISOString();
const linesOf = ({ summary, details }: Message) => [summary, ...details].join('\n');
const annotationsOf = ({ summary, details }: Message) => ({ summary, description: details.join('\n') });

function alertmanager(message: Message, { entry, link, now }: FormContext): ReturnType<MakeForm> {
  const { labels, begin, end, stage } = message;
  const alert = {
    labels,
    annotations: annotationsOf(message),
    startsAt: iso(begin),
    endsAt: iso(end ?? now + (stage === 'test' ? TEST_SECONDS : LASTS_SECONDS)),
    ...(link !== undefined && { generatorURL: link }),
  };
  // One alone: a bad one would be refused while others of its request are accepted.
  return { url: below(entry, '/api/v2/alerts'), body: JSON.stringify([alert]) };
}

/** Alertmanager's form of a time that has not come. */
const NEVER = '0001-01-01T00:00:00Z';

function webhook(message: Message, { name, entry, link = '', now }: FormContext): ReturnType<MakeForm> {
  const { labels, begin, end, id, sequence } = message;
  const annotations = annotationsOf(message);
  const status = end === null ? 'firing' : 'resolved';
  const alert = {
    status,
    labels,
    annotations,
    startsAt: iso(begin),
    endsAt: end === null ? NEVER : iso(end),
    generatorURL: link,
    fingerprint: createHash('sha256').update(JSON.stringify(labels)).digest('hex').slice(0, 16),
  };
  const body = JSON.stringify({
    version: '4',
    groupKey: sequence,
    truncatedAlerts: 0,
    status,
    receiver: name,
    groupLabels: { alertname: labels['alertname'] },
    commonLabels: labels,
    commonAnnotations: annotations,
    externalURL: link,
    alerts: [alert],
  });
  const keys = entry.key_file?.secret.split(/\r?\n/) ?? [];
  const signed = { 'webhook-id': `msg_${id}`, 'webhook-timestamp': String(now) };
  const signatures = keys.map((key) => signatureOf(key, `msg_${id}.${now}.${body}`)).join(' ');
  const headers = keys.length === 0 ? signed : { ...signed, 'webhook-signature': signatures };
  return { url: entry.url ?? '', body, headers };
}

/** Standard Webhooks, version 1. */
const signatureOf = (key: string, content: string) =>
  `v1,${createHmac('sha256', Buffer.from(key.replace('whsec_', ''), 'base64'))
    .update(content)
    .digest('base64')}`;

const TAGS: Readonly<Record<Severity, string>> = {
  info: 'information_source',
  warning: 'warning',
  critical: 'rotating_light',
};
const NTFY_PRIORITIES: Readonly<Record<Severity, number>> = { info: 3, warning: 4, critical: 5 };
/** From 4 on the app makes a sound, from 8 on it vibrates too. */
const GOTIFY_PRIORITIES: Readonly<Record<Severity, number>> = { info: 2, warning: 5, critical: 8 };
/** An end wakes nobody. */
const END_PRIORITY = 3;

function priorityOf({ severity, end }: Message, { priority }: TargetEntry, usual: Record<Severity, number>) {
  const ofBegin = priority ?? usual[severity];
  return end === null ? ofBegin : Math.min(END_PRIORITY, ofBegin);
}

function ntfy(message: Message, { entry, link }: FormContext): ReturnType<MakeForm> {
  const { title, severity, end, sequence } = message;
  const body = JSON.stringify({
    topic: entry.topic,
    title,
    message: linesOf(message),
    priority: priorityOf(message, entry, NTFY_PRIORITIES),
    tags: [end === null ? TAGS[severity] : 'white_check_mark'],
    ...(link !== undefined && { click: link }),
    // The end replaces the beginning on the phone.
    sequence_id: sequence,
  });
  return { url: below(entry, '/'), body };
}

function gotify(message: Message, { entry, link }: FormContext): ReturnType<MakeForm> {
  const body = JSON.stringify({
    title: message.title,
    message: linesOf(message),
    priority: priorityOf(message, entry, GOTIFY_PRIORITIES),
    ...(link !== undefined && { extras: { 'client::notification': { click: { url: link } } } }),
  });
  const { secret = '' } = entry.token_file ?? {};
  return { url: below(entry, '/message'), body, headers: { 'X-Gotify-Key': secret } };
}
