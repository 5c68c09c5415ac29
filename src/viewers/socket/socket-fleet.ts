/** Answers the messages of one socket about all machines, and holds its subscriptions of the topics `fleet` and `events`. */
import { ServiceError } from '../../errors.ts';
import type { Machine } from '../../machine/machine.ts';
import { allows } from '../../scopes.ts';
import { parseView } from '../../stats/view.ts';
import type { FleetData, FleetRequest } from '../../wire/hub-socket.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { type FleetFilter, filterOf } from '../fleet/fleet-filter.ts';
import type { Broadcasts } from './broadcasts.ts';
import type { EventMember } from './event-broadcast.ts';
import { type FleetOutlet, FleetSubscription } from './fleet-subscription.ts';
import { frame, frameOf, NOWHERE, type Place, refusalFrame } from './messages.ts';
import { refusalOf } from './socket-requests.ts';

/** The topic that a message begins. */
const TOPICS: Readonly<Partial<Record<FleetRequest['op'], string>>> = {
  subscribe: 'fleet',
  follow: 'events',
};
const ENDS: ReadonlySet<string> = new Set(['unsubscribe', 'leave']);

/** Throws ServiceError. */
function filterIn({ labels, state }: FleetData<'hosts'>): FleetFilter {
  const query = new URLSearchParams(labels.map((label): [string, string] => ['label', label]));
  if (state !== undefined) query.append('state', state);
  return filterOf(query);
}

/** All machines, for the sockets that show several. */
export type AllMachines = Pick<Fleet, 'join' | 'lists'> & Pick<Machine, 'followTopic'>;

export class SocketFleet implements EventMember {
  readonly #fleet: AllMachines;
  readonly #outlet: FleetOutlet;
  readonly #broadcasts: Broadcasts;
  #subscription: FleetSubscription | undefined;

  constructor(fleet: AllMachines, outlet: FleetOutlet, broadcasts: Broadcasts) {
    this.#fleet = fleet;
    this.#outlet = outlet;
    this.#broadcasts = broadcasts;
  }

  get seesProcesses(): boolean {
    return allows(this.#outlet.caller.scopes, 'processes');
  }

  sendEvent(json: string): void {
    if (!this.#outlet.isFull) this.#outlet.send(frameOf('event', json, NOWHERE));
  }

  /** Throws only when something is broken. */
  carryOut(request: FleetRequest): void {
    const place = { host: undefined, id: request.id };
    const refusal = refusalOf(this.#outlet, 'read', place);
    if (refusal !== undefined && !ENDS.has(request.op)) {
      // A topic that a client may not see is left out, as those of machines are.
      const topic = TOPICS[request.op];
      const none = { topics: [], unknown: [], forbidden: [topic] };
      this.#outlet.send(topic === undefined ? refusal : frame('subscribed', none, place));
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

  close(): void {
    this.leave();
    this.#broadcasts.removeEvents(this.#fleet, this);
  }

  leave(): void {
    this.#subscription?.leave();
    this.#subscription = undefined;
  }

  #answer(request: FleetRequest, place: Place): void {
    const { op } = request;
    if (op === 'hosts')
      this.#outlet.send(frameOf('hosts', this.#fleet.lists.json(filterIn(request.data)), place));
    else if (op === 'subscribe') this.#subscribe(request.data, place);
    else {
      if (op === 'follow') this.#broadcasts.addEvents(this.#fleet, this);
      else if (op === 'leave') this.#broadcasts.removeEvents(this.#fleet, this);
      else this.leave();
      this.#outlet.send(frame('subscribed', { topics: op === 'follow' ? ['events'] : [] }, place));
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
