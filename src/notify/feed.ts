/** Where notifications get their events; the composition root passes it. */
import type { MachineEvent } from '../wire/events.ts';

export interface EventFeed {
  /** Calls `listener` with each event, until the returned function is called. */
  onEvent(listener: (event: MachineEvent) => void): () => void;
  /** The events that have begun and have not ended. */
  readonly open: readonly MachineEvent[];
  readonly mutes: {
    hides(event: MachineEvent): boolean;
    /** Calls `listener` when events may no longer be hidden, or are, until the returned function is called. */
    onChange(listener: () => void): () => void;
  };
}
