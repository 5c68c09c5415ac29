/** The events of one machine, or of all of a hub, which sends them while a socket subscribes to them. */
import type { Defer } from '../../clock.ts';
import { withoutCause } from '../../history/event-book.ts';
import type { Machine } from '../../machine/machine.ts';
import { inSlices } from '../../streams/slices.ts';

export interface EventMember {
  /** Its client may see processes; for others an event names none. */
  readonly seesProcesses: boolean;
  /** Lost where there is no room. */
  sendEvent(json: string): void;
}

export class EventBroadcast {
  readonly #machine: Pick<Machine, 'followTopic'>;
  readonly #defer: Defer;
  readonly #members = new Set<EventMember>();
  #end: (() => void) | undefined;

  constructor(machine: Pick<Machine, 'followTopic'>, defer: Defer) {
    this.#machine = machine;
    this.#defer = defer;
  }

  get size(): number {
    return this.#members.size;
  }

  add(member: EventMember): void {
    this.#members.add(member);
    this.#end ??= this.#machine.followTopic('events', {
      onPayload: (json) => this.#send(json),
      onChange: () => undefined,
      // The history has the missed ones.
      onLost: () => undefined,
    })?.end;
  }

  remove(member: EventMember): void {
    this.#members.delete(member);
    if (this.#members.size > 0) return;
    this.#end?.();
    this.#end = undefined;
  }

  #send(json: string): void {
    const bare = JSON.stringify(withoutCause(JSON.parse(json)));
    inSlices([...this.#members], this.#defer, (member) => {
      if (this.#members.has(member)) member.sendEvent(member.seesProcesses ? json : bare);
    });
  }
}
