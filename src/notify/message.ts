/** Messages about outages, in words for people. An outage is one event from its beginning to its end. Pure. */
import { createHash } from 'node:crypto';
import { clean } from '../clean.ts';
import { TEXTS } from '../fairness/limits.ts';
import { keyOf } from '../history/event-book.ts';
import { inWords } from '../history/gaps.ts';
import type { MachineEvent } from '../wire/events.ts';
import type { Severity } from '../wire/severities.ts';

/** `lasts`: the beginning again, for Alertmanager; `was`: beginning and end; `rest`: counts what is not sent. */
export type Stage = 'begin' | 'lasts' | 'end' | 'was' | 'rest' | 'test';

export interface Message {
  /** The same for each attempt to send it, and after a restart. */
  readonly id: string;
  /** The same for the beginning and the end of an outage. */
  readonly sequence: string;
  readonly stage: Stage;
  readonly severity: Severity;
  readonly title: string;
  /** A sentence. */
  readonly summary: string;
  /** Further lines. */
  readonly details: readonly string[];
  /** The identity of the outage. */
  readonly labels: Readonly<Record<string, string>>;
  /** Unix seconds. */
  readonly begin: number;
  /** Null while it lasts. */
  readonly end: number | null;
}

/** Whether the event is a machine that is down without having announced it. */
export const isDown = ({ kind, subject }: MachineEvent): boolean => kind === 'machine' && subject === 'down';

/** `name`: of the machine, for people. `end`: of an event that has ended. */
export function messageOf(
  stage: Stage,
  begin: MachineEvent,
  end: MachineEvent | undefined,
  name: string,
): Message {
  const outage = `${keyOf(begin)} ${begin.begin}`;
  const endAt = end === undefined ? null : Math.max(begin.begin, end.end ?? end.begin);
  const lasted = endAt === null ? '' : inWords(endAt - begin.begin);
  const word = endAt === null ? begin.severity : stage === 'was' ? `was, ${lasted}` : 'ended';
  const times =
    endAt === null
      ? `Began ${formatTime(begin.begin)}.`
      : `Began ${formatTime(begin.begin)}, ended ${formatTime(endAt)}, lasted ${lasted}.`;
  return {
    id: digest(`${outage} ${stage}`),
    sequence: digest(outage),
    stage,
    severity: begin.severity,
    title: clean(`${name}: ${word}`, TEXTS.message),
    summary: clean((stage === 'end' ? end : undefined)?.text ?? begin.text, TEXTS.message),
    details: [times, ...describeCause(begin)],
    labels: labelsOf(begin, name),
    begin: begin.begin,
    end: endAt,
  };
}

/** A message that is about no outage. */
function noteOf(
  stage: Stage,
  severity: Severity,
  now: number,
  words: Pick<Message, 'title' | 'summary' | 'details'>,
) {
  const id = digest(`${stage} ${now} ${words.title}`);
  const labels = { alertname: `hostwire_${stage}`, severity };
  return { id, sequence: id, stage, severity, ...words, labels, begin: now, end: null };
}

/** Counts outages of which no message is sent of its own. `texts`: of the first ones; `now`: Unix seconds. */
export function restOf(
  { began, ended }: { readonly began: number; readonly ended: number },
  texts: readonly string[],
  severity: Severity,
  maxPerHour: number,
  now: number,
): Message {
  const count = began + ended;
  return noteOf('rest', severity, now, {
    title: `hostwire: ${count} more events`,
    summary: `${count} more events are not sent (${began} began, ${ended} ended): the limit is ${maxPerHour} messages per hour.`,
    details: texts.map((text) => clean(text, TEXTS.message)),
  });
}

/** The message of `hostwire notify test`. */
export const testMessage = (name: string, now: number): Message =>
  noteOf('test', 'info', now, {
    title: clean(`${name}: test`, TEXTS.message),
    summary: 'This is a test of notifications, sent by "hostwire notify test".',
    details: [`Sent ${formatTime(now)}.`],
  });

const digest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 32);

/** The severity and the name are those of the beginning, because Alertmanager compares all labels. */
function labelsOf({ machine, kind, subject, severity }: MachineEvent, name: string): Message['labels'] {
  const [rule = subject, ...series] = subject.split(' ');
  return {
    alertname: kind === 'rule' ? rule : `${kind}_${subject}`,
    instance: name,
    machine,
    kind,
    // Without the empty ones, as Alertmanager does it.
    ...(kind === 'rule' && series.length > 0 && { series: series.join(' ') }),
    severity,
  };
}

function describeCause({ processes }: MachineEvent): readonly string[] {
  const [cpu] = processes?.cpu ?? [];
  const [memory] = processes?.memory ?? [];
  const causes: string[] = [];
  if (cpu) causes.push(`${clean(cpu.name, 64)} ${Math.round(cpu.value)} % of the processor`);
  if (memory) causes.push(`${clean(memory.name, 64)} ${Math.round(memory.value / 2 ** 20)} MiB of memory`);
  return causes.length === 0 ? [] : [`Used most: ${causes.join(', ')}.`];
}

/** `2026-11-28 14:03:05`, in local time. */
function formatTime(unixSeconds: number): string {
  const at = new Date(unixSeconds * 1000);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000)
    .toISOString()
    .slice(0, 19)
    .replace('T', ' ');
}
