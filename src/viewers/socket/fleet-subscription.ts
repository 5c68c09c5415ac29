/** The topic `fleet` of one socket. */
import type { Caller } from '../../access/caller.ts';
import type { FleetGroup, FleetMember } from '../fleet/fleet-group.ts';
import { frameOf, NOWHERE } from './messages.ts';

const BEGIN = 'data: '.length;
const END = '\n\n'.length;

/** An event's message, which all sockets share. */
const texts = new WeakMap<Buffer, string>();

function textOf(event: Buffer): string {
  const known = texts.get(event);
  if (known !== undefined) return known;
  const text = frameOf('fleet', event.subarray(BEGIN, event.length - END), NOWHERE);
  texts.set(event, text);
  return text;
}

/** The socket of a subscription. */
export interface FleetOutlet {
  readonly isFull: boolean;
  readonly caller: Caller;
  send(text: string): void;
}

export class FleetSubscription implements FleetMember {
  readonly #outlet: FleetOutlet;
  readonly #group: FleetGroup;
  /** Number of the newest event that it has had. */
  #number = 0;
  #hasMissed = true;

  /** `join`: returns the group that it has become a member of. Throws as `join` does. */
  constructor(outlet: FleetOutlet, join: (member: FleetMember) => FleetGroup) {
    this.#outlet = outlet;
    this.#group = join(this);
  }

  publish(event: Buffer, number: number): void {
    // It is in what came before, which had every machine.
    if (number <= this.#number) return;
    this.#hasMissed ||= number !== this.#number + 1;
    if (this.#outlet.isFull) this.#hasMissed = true;
    else if (this.#hasMissed) this.sendWhole();
    else {
      this.#number = number;
      this.#outlet.send(textOf(event));
    }
  }

  /** Begins, or continues after missed events, with every machine. */
  sendWhole(): void {
    const { event, number } = this.#group.whole();
    this.#number = number;
    this.#hasMissed = false;
    this.#outlet.send(textOf(event));
  }

  /** It has room again. */
  flush(): void {
    if (this.#hasMissed) this.sendWhole();
  }

  leave(): void {
    this.#group.leave(this);
  }
}
