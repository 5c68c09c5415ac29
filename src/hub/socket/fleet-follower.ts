/** The topic `fleet` of one socket. */
import type { Caller } from '../../http/clients/caller.ts';
import type { FleetData } from '../../wire/hub-socket.ts';
import { frameOf, NOWHERE } from './messages.ts';
import type { FleetFollower, FleetSubscription, SocketRooms } from './rooms.ts';

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

interface Outlet {
  readonly isFull: boolean;
  readonly caller: Caller;
  send(text: string): void;
}

export class FleetViewer implements FleetFollower {
  readonly #outlet: Outlet;
  readonly #place: FleetSubscription;
  /** Number of the newest event that it has had. */
  #number = 0;
  #hasMissed = true;

  /** Throws ServiceError. */
  constructor(rooms: Pick<SocketRooms, 'joinFleet'>, data: FleetData<'subscribe'>, outlet: Outlet) {
    this.#outlet = outlet;
    this.#place = rooms.joinFleet(data, this, outlet.caller);
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

  /** Begins, or goes on after events that it missed, with every machine. */
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
