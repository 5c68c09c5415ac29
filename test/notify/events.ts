/** Events for tests of notifications. */
import type { MachineEvent } from '#src/wire/events.js';

let lastId = 0;

export const BEGIN = 1_700_000_000;

/** An event that begins: of a rule on `pc`, unless `more` says otherwise. */
export const begins = (subject: string, more: Partial<MachineEvent> = {}): MachineEvent => ({
  id: ++lastId,
  machine: 'pc',
  kind: 'rule',
  subject,
  severity: 'warning',
  state: 'begin',
  begin: BEGIN,
  end: null,
  value: 91,
  limit: 90,
  text: `${subject} is 91, limit 90`,
  ...more,
});

/** Its end, `seconds` after its beginning. */
export const ends = (begin: MachineEvent, seconds = 60, more: Partial<MachineEvent> = {}): MachineEvent => ({
  ...begin,
  id: ++lastId,
  state: 'end',
  end: begin.begin + seconds,
  text: `${begin.subject} is 80`,
  ...more,
});

export const down = (machine = 'pc'): MachineEvent =>
  begins('down', { machine, kind: 'machine', severity: 'critical', text: `${machine} does not answer` });

/** A feed whose events are not muted, unless `muted` has their rules. */
export function mutesOf(muted = new Set<string>()) {
  const listeners = new Set<() => void>();
  return {
    muted,
    hides: ({ subject }: MachineEvent) => muted.has(subject.split(' ')[0] ?? ''),
    onChange: (listener: () => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    change: () => listeners.forEach((listener) => listener()),
  };
}
