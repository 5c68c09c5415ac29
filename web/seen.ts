/** The open events that were seen on this browser: their emphasis is gone, and they are still counted. */
import type { MachineEvent } from '../src/wire/events.ts';
import { storageName } from './requests.ts';
import { Value } from './value.ts';

const NAME = storageName('seen');

const idOf = ({ machine, id }: MachineEvent): string => `${machine}/${id}`;

export const seen = new Value<ReadonlySet<string>>(new Set((localStorage.getItem(NAME) ?? '').split(' ')));
export const isSeen = (event: MachineEvent): boolean => seen.current.has(idOf(event));

/** Keeps these as the seen ones. */
export function see(events: readonly MachineEvent[]): void {
  const ids = events.map(idOf);
  localStorage.setItem(NAME, ids.join(' '));
  seen.set(new Set(ids));
}
