/** Answers the messages of one socket about all machines, and holds its subscription of the topic `fleet`. */
import { ServiceError } from '../../errors.ts';
import { parseView } from '../../stats/view.ts';
import type { FleetData, FleetRequest } from '../../wire/hub-socket.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { type FleetFilter, filterOf } from '../fleet/fleet-filter.ts';
import { type FleetOutlet, FleetSubscription } from './fleet-subscription.ts';
import { frame, frameOf, type Place, refusalFrame } from './messages.ts';
import { refusalOf } from './socket-requests.ts';

const NO_FLEET = { topics: [], unknown: [], forbidden: ['fleet'] };

/** Throws ServiceError. */
function filterIn({ labels, state }: FleetData<'hosts'>): FleetFilter {
  const query = new URLSearchParams(labels.map((label): [string, string] => ['label', label]));
  if (state !== undefined) query.append('state', state);
  return filterOf(query);
}

/** All machines, for the sockets that show several. */
export type AllMachines = Pick<Fleet, 'join' | 'lists'>;

export class SocketFleet {
  readonly #fleet: AllMachines;
  readonly #outlet: FleetOutlet;
  #subscription: FleetSubscription | undefined;

  constructor(fleet: AllMachines, outlet: FleetOutlet) {
    this.#fleet = fleet;
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
    if (op === 'hosts') this.#outlet.send(frameOf('hosts', this.#fleet.lists.json(filterIn(data)), place));
    else if (op === 'subscribe') this.#subscribe(data, place);
    else {
      this.leave();
      this.#outlet.send(frame('subscribed', { topics: [] }, place));
    }
  }

  #subscribe(data: FleetData<'subscribe'>, place: Place): void {
    const { view, ignored } = parseView(data.fields, data.detail ? '1' : null);
    // Before the old one ends: a refusal leaves that as it is.
    const subscription = new FleetSubscription(this.#outlet, (member) =>
      this.#fleet.join(filterIn(data), view, member, this.#outlet.caller),
    );
    this.leave();
    this.#subscription = subscription;
    this.#outlet.send(frame('subscribed', { topics: ['fleet'], unknown: ignored }, place));
    subscription.sendWhole();
  }
}
