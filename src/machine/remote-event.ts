/** Reads events of machines elsewhere, of which nothing is taken that events do not have. */
import { TEXTS } from '../fairness/limits.ts';
import { membersOf } from '../json.ts';
import type { MachineEvent } from '../wire/events.ts';
import type { ProcessUse } from '../wire/history.ts';
import { EVENT_KINDS, SEVERITIES } from '../wire/severities.ts';

/** As of the service. */
const MAX_USES = 5;

const isNumber = (value: unknown): value is number => typeof value === 'number';
const isText = (value: unknown): value is string => typeof value === 'string';
const numberOf = (value: unknown): number | null => (isNumber(value) ? value : null);

/** With the number that it has there. */
export type RemoteEvent = Omit<MachineEvent, 'machine'>;

/** undefined: it is not an event. */
export function readEvent(value: unknown): RemoteEvent | undefined {
  const given = membersOf(value);
  const { id, subject, state, begin, text, processes } = given;
  const kind = EVENT_KINDS.find((each) => each === given['kind']);
  const severity = SEVERITIES.find((each) => each === given['severity']);
  if (kind === undefined || severity === undefined || !isNumber(id) || !isNumber(begin)) return undefined;
  if (!isText(text) || !isText(subject) || subject.length > TEXTS.subject) return undefined;
  if (state !== 'begin' && state !== 'end') return undefined;
  return {
    id,
    kind,
    subject,
    severity,
    state,
    begin,
    end: state === 'end' ? (numberOf(given['end']) ?? begin) : null,
    value: numberOf(given['value']),
    limit: numberOf(given['limit']),
    text: text.slice(0, TEXTS.message),
    ...(processes !== undefined && { processes: causeOf(processes) }),
  };
}

function causeOf(value: unknown): NonNullable<MachineEvent['processes']> | null {
  const { cpu, memory, disk } = membersOf(value);
  return value === null ? null : { cpu: usesOf(cpu), memory: usesOf(memory), disk: usesOf(disk) };
}

function usesOf(list: unknown): ProcessUse[] | null {
  if (!Array.isArray(list)) return null;
  return list.slice(0, MAX_USES).flatMap((each) => {
    const { name, count, value } = membersOf(each);
    if (!isText(name) || !isNumber(count) || !isNumber(value)) return [];
    return [{ name: name.slice(0, TEXTS.name), count, value }];
  });
}
