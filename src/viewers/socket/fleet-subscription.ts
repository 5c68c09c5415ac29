/** The topic `fleet` of one socket. */
import type { Caller } from '../../access/caller.ts';
import type { FleetData } from '../../wire/hub-socket.ts';
import { frameOf, NOWHERE } from './messages.ts';

/** A subscriber of all machines. */
export interface FleetMember {
  /** `number`: that of the event, one more than that of the event before. */
  publish(event: Buffer, number: number): void;
}

/** An event with every machine that matches, and the number of the newest event that it contains. */
export interface FleetWhole {
  readonly event: Buffer;
  readonly number: number;
}

/** The place of a member among those of the same filter and view. */
export interface FleetPlace {
  whole(): FleetWhole;
  leave(): void;
}

/** All machines, for the sockets that show several. */
export interface FleetAccess {
  /** A HostList as JSON. Throws ServiceError. */
  list(filter: FleetData<'hosts'>): Buffer;
  /** `ignored`: names in `fields` that are no sections. Throws ServiceError. */
  join(
    data: FleetData<'subscribe'>,
    member: FleetMember,
    client: Caller,
  ): FleetPlace & { readonly ignored: readonly string[] };
}

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
  readonly #place: ReturnType<FleetAccess['join']>;
  /** Number of the newest event that it has had. */
  #number = 0;
  #hasMissed = true;

  /** Throws ServiceError. */
  constructor(fleet: Pick<FleetAccess, 'join'>, data: FleetData<'subscribe'>, outlet: FleetOutlet) {
    this.#outlet = outlet;
    this.#place = fleet.join(data, this, outlet.caller);
  }

  get ignored(): readonly string[] {
    return this.#place.ignored;
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
    const { event, number } = this.#place.whole();
    this.#number = number;
    this.#hasMissed = false;
    this.#outlet.send(textOf(event));
  }

  /** It has room again. */
  flush(): void {
    if (this.#hasMissed) this.sendWhole();
  }

  leave(): void {
    this.#place.leave();
  }
}
