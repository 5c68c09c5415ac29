/** The events that last and need somebody. Pure. */
import type { EventList, MachineEvent } from '../src/wire/events.ts';

/** Requests the least: the events that last are in each answer. */
export const ALARMS_PATH = '/api/events?limit=1';

/** The most urgent ones first, of these the newest; without information that asks for nothing. */
export const alarmsIn = ({ open }: Pick<EventList, 'open'>): readonly MachineEvent[] =>
  open
    .filter(({ severity }) => severity !== 'info')
    .toSorted((a, b) => a.severity.localeCompare(b.severity) || b.begin - a.begin);

/** The cards of series, by the first part of their names. */
const CARDS: Readonly<Record<string, string>> = {
  cpu: 'cpu',
  memory: 'memory',
  gpu: 'gpu',
  disk: 'disks',
  drive: 'drives',
  network: 'network',
  sensor: 'sensors',
  battery: 'batteries',
};

/** Returns the card that shows what `event` is about; the subject of a rule is `RULE SERIES`. */
export const cardOf = ({ subject }: Pick<MachineEvent, 'subject'>): string =>
  CARDS[/ (\w+)\./.exec(subject)?.[1] ?? ''] ?? 'events';
