/**
 * The machines of `hub.agents` that dial this hub. Their upgrade has the id and the key; then the ends change roles, and the
 * hub is the client of the machine.
 */
import { timingSafeEqual } from 'node:crypto';
import type { Caller } from '../access/caller.ts';
import { bearerIn, digestKey } from '../access/key.ts';
import type { AgentEntry } from '../config/rows/hub-rows.ts';
import { ServiceError } from '../errors.ts';
import type { Exchange } from '../http/engine.ts';
import type { Gate } from '../http/gate.ts';
import type { Answer } from '../http/head.ts';
import { bareAnswer } from '../http/reply.ts';
import type { Configured } from '../machine/machines.ts';
import { RemoteMachine } from '../machine/remote.ts';
import type { RemoteDeps } from '../machine/remote-deps.ts';
import { EngineCarrier } from '../socket/engine-carrier.ts';

interface Connection {
  readonly caller: Caller;
  readonly carrier: EngineCarrier;
  /** Another one after each start of the machine's service. */
  readonly run: string | undefined;
}

interface Dialled {
  entry: AgentEntry;
  readonly machine: RemoteMachine;
  connection: Connection | undefined;
}

const UNSEEN = 'not connected yet';
/** A machine that was heard within this time is there: hubs ping every 5 s. */
const ALIVE_MS = 7000;

export class DialIns {
  readonly #deps: RemoteDeps;
  readonly #gate: Pick<Gate, 'noteWrongKey'>;
  readonly #machines = new Map<string, Dialled>();
  readonly #open = new Set<EngineCarrier>();
  /** Machines that two dial in as, which was logged. */
  readonly #doubles = new Set<string>();

  constructor(deps: RemoteDeps, gate: Pick<Gate, 'noteWrongKey'>) {
    this.#deps = deps;
    this.#gate = gate;
  }

  /** Open connections. */
  get size(): number {
    return this.#open.size;
  }

  /** A machine of the configuration. */
  add(id: string, entry: AgentEntry): Configured {
    const machine = new RemoteMachine(id, { hub: this.#deps, entry: () => dialled.entry });
    const dialled: Dialled = { entry, machine, connection: undefined };
    this.#machines.set(id, dialled);
    // Otherwise it was there before this hub started.
    if (machine.status === undefined) machine.lost(UNSEEN);
    return {
      machine,
      suits: ({ dials_in: dialsIn }) => dialsIn === true,
      reconfigure: (next) => {
        const isSameKey = next.key_file?.secret === dialled.entry.key_file?.secret;
        dialled.entry = next;
        if (!isSameKey) machine.lost('its entry in hub.agents has changed');
      },
      removed: () => {
        if (this.#machines.get(id) === dialled) this.#machines.delete(id);
      },
    };
  }

  /** Upgrades `exchange`, which a machine has opened, or returns the refusal. Throws ServiceError. */
  open(exchange: Exchange, query: URLSearchParams, caller: Caller): Answer | undefined {
    const id = query.get('id') ?? '';
    const run = query.get('run') ?? undefined;
    const dialled = this.#machines.get(id);
    if (!isKey(exchange, dialled?.entry.key_file?.secret)) {
      const isLast = this.#gate.noteWrongKey(caller.address);
      return { ...bareAnswer(401, []), ...(isLast && { isLast }) };
    }
    if (dialled === undefined) return undefined;
    const { machine, connection: before } = dialled;
    // Its own run has given the connection before up; another one may be another machine.
    const isOther = before !== undefined && (run === undefined || before.run !== run);
    if (isOther && machine.silentMs < ALIVE_MS) {
      this.#reportDouble(id, caller.address);
      throw new ServiceError('not_possible_now', 'Another machine is connected with this id.');
    }
    const peer = machine.connect();
    const carrier = new EngineCarrier(peer, () => {
      this.#open.delete(carrier);
      if (dialled.connection?.carrier === carrier) dialled.connection = undefined;
    });
    const socket = exchange.startSocket(carrier);
    if (socket === undefined) {
      machine.lost('disconnected');
      return undefined;
    }
    carrier.start(socket);
    this.#open.add(carrier);
    dialled.connection = { caller, carrier, run };
    peer.start(carrier);
    return undefined;
  }

  /** Ends those whose addresses `passes` no longer lets through. */
  revalidate(passes: (caller: Caller) => boolean): void {
    for (const { machine, connection } of this.#machines.values())
      if (connection !== undefined && !passes(connection.caller))
        machine.lost('the hub no longer takes the address of this machine');
  }

  #reportDouble(id: string, address: string): void {
    if (this.#doubles.has(id)) return;
    this.#doubles.add(id);
    const text = `two machines dial in as ${id}; the second is refused while the first is connected`;
    this.#deps.log.warn(text, { address });
  }
}

/** Whether the request has this key; an id without one takes as long. */
function isKey({ head }: Exchange, key: string | undefined): boolean {
  const [given = ''] = head.headers.get('authorization') ?? [];
  const sent = digestKey(bearerIn(given) ?? '');
  return timingSafeEqual(sent, digestKey(key ?? 'no key')) && key !== undefined;
}
