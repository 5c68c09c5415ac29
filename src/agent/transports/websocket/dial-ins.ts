/** The machines of `hub.agents` whose agents dial this hub: who has proved to be which, and what each is sent. */

import type { Caller } from '../../../access/caller.ts';
import type { AgentEntry } from '../../../config/rows/hub-rows.ts';
import { ServiceError } from '../../../errors.ts';
import type { Exchange } from '../../../http/engine.ts';
import type { Framed } from '../../protocol/frames.ts';
import type { RemoteDeps } from '../../remote/deps.ts';
import type { Configured } from '../../remote/hosts.ts';
import { Attempts } from './attempts.ts';
import type { ConnectedMachine, ConnectedMachines } from './connected-machines.ts';
import { DialSession, type SessionOwner } from './dial-in-session.ts';
import type { EndingName } from './endings.ts';
import { DialPace } from './machine-pace.ts';
import { MinuteLog } from './minute-log.ts';

interface Dialled {
  entry: AgentEntry;
  readonly machine: ConnectedMachine;
  readonly pace: DialPace;
  session: DialSession | undefined;
}

const UNSEEN = 'not connected yet';
const CUT = 'disconnected';
const FLOODED = 'its agent exceeded the rate limit';

export class DialIns implements SessionOwner {
  readonly #deps: RemoteDeps;
  readonly #machines: ConnectedMachines;
  readonly #attempts: Attempts;
  readonly #agents = new Map<string, Dialled>();
  /** All connections, including those that have proved nothing yet. */
  readonly #sessions = new Set<DialSession>();
  /** Two machines with one id. */
  readonly #doubles: MinuteLog;
  readonly #floods: MinuteLog;

  constructor(deps: RemoteDeps, machines: ConnectedMachines) {
    const { clock, log } = deps;
    this.#deps = deps;
    this.#machines = machines;
    this.#attempts = new Attempts(clock, log);
    this.#doubles = new MinuteLog(clock, log);
    this.#floods = new MinuteLog(clock, log);
    machines.onLook((nowMs) => this.#look(nowMs));
  }

  /** Connections, also those that have proved nothing yet. */
  get size(): number {
    return this.#sessions.size;
  }

  /** A machine of the configuration, for Hosts. */
  add(id: string, entry: AgentEntry): Configured {
    const machine = this.#machines.add(id, () => agent.entry);
    const { host } = machine;
    const pace = new DialPace(this.#deps.clock.now());
    const agent: Dialled = { entry, machine, pace, session: undefined };
    this.#agents.set(id, agent);
    // Otherwise it was there before this hub started.
    if (host.status === undefined) host.lost(UNSEEN);
    return {
      host,
      suits: ({ dials_in: dialsIn }) => dialsIn === true,
      reconfigure: (next) => {
        const isSameKey = next.key_file?.secret === agent.entry.key_file?.secret;
        agent.entry = next;
        if (!isSameKey) agent.session?.end('removed');
      },
      removed: () => {
        if (this.#agents.get(id) === agent) this.#agents.delete(id);
        this.#machines.remove(machine);
        agent.session?.end('removed');
      },
    };
  }

  /** Upgrades `exchange`, which an agent has opened. Throws ServiceError. */
  open(exchange: Exchange, caller: Caller): void {
    if (this.#agents.size === 0) throw new ServiceError('not_found', 'No agent is configured to dial in.');
    if (this.#attempts.hasFailed(caller.address))
      throw new ServiceError('too_many_requests', 'Too many failed attempts from this address.');
    const { name, clock, quota } = this.#deps;
    const session = new DialSession({ name, clock, quota, owner: this }, caller);
    const socket = exchange.startSocket(session);
    if (socket === undefined) return;
    this.#sessions.add(session);
    this.#attempts.begin(session);
    session.start(socket);
  }

  /** Ends those whose addresses `passes` no longer lets through. */
  revalidate(passes: (caller: Caller) => boolean): void {
    for (const session of [...this.#sessions]) if (!passes(session.caller)) session.end('barred');
  }

  close(): void {
    for (const session of [...this.#sessions]) session.end('closing');
  }

  keyOf(id: string): string | undefined {
    return this.#agents.get(id)?.entry.key_file?.secret;
  }

  /**
   * One machine has one connection. The next one of the same run takes its place: its agent has given the other up. Another
   * run may be another machine, which has to wait until the first one is gone or has missed a ping.
   */
  admit(session: DialSession): DialPace | EndingName {
    const { id = '', run } = session.proven ?? {};
    this.#attempts.settle(session);
    const agent = this.#agents.get(id);
    if (agent === undefined) return 'refused';
    if (agent.pace.isSpent(this.#deps.clock.now())) return 'flood';
    const before = agent.session;
    if (before !== undefined && before.proven?.run !== run && !before.isDoubtful) {
      const text = `two machines dial in as ${id}; the second is refused while the first is connected`;
      this.#doubles.warn(text, { address: session.address });
      return 'taken';
    }
    this.#connect(agent, session);
    this.#deps.counters.connections++;
    if (before !== undefined) {
      agent.machine.host.lost(CUT);
      before.end('replaced');
    }
    return agent.pace;
  }

  onFlood(session: DialSession): void {
    const { id = '' } = session.proven ?? {};
    const agent = this.#agents.get(id);
    if (agent?.session !== session) return;
    this.#deps.counters.failures++;
    this.#floods.warn(`the agent ${id} exceeded the rate limit and was disconnected`, {
      address: session.address,
    });
    this.#connect(agent, undefined);
    agent.machine.host.lost(FLOODED);
  }

  onMessage(session: DialSession, message: Framed): void {
    const agent = this.#agents.get(session.proven?.id ?? '');
    if (agent?.session === session && !this.#machines.take(agent.machine, message)) session.end('malformed');
  }

  onRefused(session: DialSession, id: string): void {
    this.#deps.counters.failures++;
    // An id is of harmless characters.
    const why = this.#agents.has(id)
      ? `it does not have the key of ${id}`
      : `hub.agents has no entry ${id} with dials_in`;
    this.#attempts.fail(session.address, id === '' ? 'it sent no proof' : why);
  }

  onClosed(session: DialSession): void {
    this.#sessions.delete(session);
    this.#attempts.settle(session);
    const agent = this.#agents.get(session.proven?.id ?? '');
    if (agent?.session !== session) return;
    this.#connect(agent, undefined);
    // It may have said why before.
    const { host } = agent.machine;
    if (host.status?.isOnline === true) host.lost(CUT);
  }

  #connect(agent: Dialled, session: DialSession | undefined): void {
    agent.session = session;
    agent.machine.connection = session;
  }

  #look(nowMs: number): void {
    const { proofLimitMs } = this.#attempts;
    for (const session of [...this.#sessions]) session.look(nowMs, proofLimitMs);
    this.#attempts.look(nowMs);
  }
}
