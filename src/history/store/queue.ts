/** A bounded queue for the disk: slots, marks and events. */
import { REMEMBERED } from '../../fairness/limits.ts';
import type { HistoryEvent, HistoryMark } from '../../wire/history.ts';
import type { Slot } from '../history.ts';
import type { Batch, BatchHead } from './messages.ts';
import { floorTo, MINUTE_SECONDS, SLOT_SECONDS } from './messages.ts';
import { packSlots } from './pack.ts';

interface Content {
  readonly slots: readonly Slot[];
  readonly marks: readonly HistoryMark[];
  readonly events: readonly HistoryEvent[];
  /** The clock was set back to this time. */
  readonly dropAfter: number | undefined;
}

const EMPTY: Content = { slots: [], marks: [], events: [], dropAfter: undefined };

export class Queue {
  #waiting = EMPTY;
  /** The batch that is being written. */
  #sent: Content | undefined;
  #lost = 0;

  /** Returns true if its minute is over. */
  put(slot: Slot): boolean {
    const first = this.#waiting.slots[0];
    this.#keep({ ...this.#waiting, slots: [...this.#waiting.slots, slot] });
    const minute = floorTo(slot.at, MINUTE_SECONDS);
    return (
      slot.at + SLOT_SECONDS === minute + MINUTE_SECONDS ||
      (first !== undefined && floorTo(first.at, MINUTE_SECONDS) !== minute)
    );
  }

  mark(mark: HistoryMark): void {
    const isSetBack = mark.kind === 'clock' && mark.seconds !== null && mark.seconds < 0;
    const marks = [...this.#waiting.marks, mark];
    this.#keep({ ...(isSetBack ? dropped(this.#waiting, mark.at) : this.#waiting), marks });
  }

  event(event: HistoryEvent): void {
    this.#keep({ ...this.#waiting, events: [...this.#waiting.events, event] });
  }

  /** Drops the oldest. */
  #keep({ slots, marks, events, dropAfter }: Content): void {
    this.#lost += Math.max(0, slots.length - REMEMBERED.unwrittenSlots);
    this.#waiting = {
      slots: slots.slice(-REMEMBERED.unwrittenSlots),
      marks: marks.slice(-REMEMBERED.unwrittenNotes),
      events: events.slice(-REMEMBERED.unwrittenNotes),
      dropAfter,
    };
  }

  /** Returns the whole queue; undefined while the last batch is being written. settle() must follow. */
  take(head: BatchHead): Batch | undefined {
    if (this.#sent !== undefined) return undefined;
    this.#sent = this.#waiting;
    this.#waiting = EMPTY;
    const { slots, marks, events, dropAfter } = this.#sent;
    return { ...head, packed: packSlots(slots), marks, events, dropAfter };
  }

  /** The taken batch is on disk, or is queued again. */
  settle(isWritten: boolean): void {
    const { slots, marks, events, dropAfter } = this.#sent ?? EMPTY;
    this.#sent = undefined;
    if (isWritten) return;
    const later = this.#waiting;
    const first = { slots, marks, events, dropAfter };
    const kept = later.dropAfter === undefined ? first : dropped(first, later.dropAfter);
    this.#keep({
      slots: [...kept.slots, ...later.slots],
      marks: [...kept.marks, ...later.marks],
      events: [...kept.events, ...later.events],
      dropAfter: kept.dropAfter,
    });
  }

  /** Returns the number of slots that did not fit, since the last call. */
  takeLost(): number {
    const lost = this.#lost;
    this.#lost = 0;
    return lost;
  }
}

/** Returns the content without the slots from that of `at` on, which belong to another time. */
function dropped(content: Content, at: number): Content {
  return {
    ...content,
    slots: content.slots.filter((slot) => slot.at < floorTo(at, SLOT_SECONDS)),
    dropAfter: Math.min(at, content.dropAfter ?? at),
  };
}
