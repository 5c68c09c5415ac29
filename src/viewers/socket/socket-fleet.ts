/** Answers the messages of one socket about all machines, and holds its subscription of the topic `fleet`. */
import { ServiceError } from '../../errors.ts';
import type { FleetRequest } from '../../wire/hub-socket.ts';
import { type FleetAccess, type FleetOutlet, FleetSubscription } from './fleet-subscription.ts';
import { frame, frameOf, type Place, refusalFrame } from './messages.ts';
import { refusalOf } from './socket-requests.ts';

const NO_FLEET = { topics: [], unknown: [], forbidden: ['fleet'] };

export class SocketFleet {
  readonly #access: FleetAccess;
  readonly #outlet: FleetOutlet;
  #subscription: FleetSubscription | undefined;

  constructor(access: FleetAccess, outlet: FleetOutlet) {
    this.#access = access;
    this.#outlet = outlet;
  }

  /** Throws only when something is broken. */
  carryOut(request: FleetRequest): void {
    const place = { host: undefined, id: request.id };
    const refusal = refusalOf(this.#outlet, 'read', place);
    if (refusal !== undefined && request.op !== 'unsubscribe') {
      // A topic that a client may not see is left out, as those of machines are.
      const isTopic = request.op === 'subscribe';
      this.#outlet.send(isTopic ? frame('subscribed', NO_FLEET, place) : refusal);
      return;
    }
    try {
      this.#answer(request, place);
    } catch (error) {
      const text = error instanceof ServiceError ? refusalFrame(error, place) : undefined;
      if (text === undefined) throw error;
      this.#outlet.send(text);
    }
  }

  /** The socket has room again. */
  flush(): void {
    this.#subscription?.flush();
  }

  leave(): void {
    this.#subscription?.leave();
    this.#subscription = undefined;
  }

  #answer({ op, data }: FleetRequest, place: Place): void {
    if (op === 'hosts') this.#outlet.send(frameOf('hosts', this.#access.list(data), place));
    else if (op === 'subscribe') {
      // Before the old one ends: a refusal leaves that as it is.
      const subscription = new FleetSubscription(this.#access, data, this.#outlet);
      this.leave();
      this.#subscription = subscription;
      this.#outlet.send(frame('subscribed', { topics: ['fleet'], unknown: subscription.ignored }, place));
      subscription.sendWhole();
    } else {
      this.leave();
      this.#outlet.send(frame('subscribed', { topics: [] }, place));
    }
  }
}
