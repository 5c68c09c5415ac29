/** What the WebSockets of a hub need of its other parts. */
import type { ServiceError } from '../../errors.ts';
import type { Caller } from '../../http/clients/caller.ts';
import type { Params } from '../../params.ts';
import type { Demand } from '../../stats/source.ts';
import type { View } from '../../stats/view.ts';
import type { HostRow, HostState } from '../../wire/hub.ts';
import type { FleetData } from '../../wire/hub-socket.ts';

/** A sample of another machine. */
export interface LaneSample {
  readonly isValid: boolean;
  has(view: View): boolean;
  /** The JSON of a view that it has. */
  payload(view: View): Buffer;
}

/** Is notified of each sample of a lane, which is its `current` then. Must not throw or wait. */
export interface LaneSink {
  publish(): void;
  /** The machine is gone: what is kept of its newest sample is of no use. */
  forget(): void;
}

/** The samples of one machine, plain or detailed. */
export interface SampleLane extends Demand {
  /** The newest, while the machine is there. */
  readonly current: LaneSample | undefined;
  sink: LaneSink | undefined;
}

/** Gets what a machine sends by itself. */
export interface TopicSink {
  /** `json`: an object. */
  readonly onPayload: (json: string) => void;
  /** What came before may be old. */
  readonly onLost: () => void;
}

/** A machine. */
export interface SocketHost {
  readonly id: string;
  readonly condition: Pick<HostRow, 'since' | 'reason'> & { readonly state: HostState };
  laneOf(view: View): SampleLane;
  /** A topic that the machine sends by itself; undefined: it does not. Returns a function that ends it. */
  followTopic?(name: string, sink: TopicSink): (() => void) | undefined;
}

/** An answer of a machine, as over HTTP. */
export interface AskedAnswer {
  /** A JSON object, and nothing else. */
  readonly bytes: Buffer;
  /** Of a media command: whether the player has taken it. */
  readonly delivered?: 'true' | 'false' | 'unknown' | undefined;
  /** It goes on, and its follower gets the rest. */
  readonly isFollowed?: true;
}

/** How far a command is: `begun`, or `accepted`, before its answer; after `accepted` it goes on. */
export interface CommandStep {
  readonly stage: 'begun' | 'accepted' | 'running' | 'done' | 'failed' | 'cancelled' | 'unknown';
  readonly message: string;
}

/** The sender of a command. */
export interface CommandFollower {
  readonly owner: object;
  readonly onStep: (step: CommandStep) => void;
  /** Also of `begun`. */
  readonly withBeginning: boolean;
}

/** How a command has ended that somebody, `owner`, has sent to the machine `host`. */
export interface EndedCommand {
  readonly host: string;
  readonly what: string;
  readonly end: Pick<AskedAnswer, 'bytes' | 'delivered'> | CommandStep | ServiceError;
  readonly owner: object | undefined;
}

export interface SocketAsking {
  /** The payload of one sample, at most a second old. Rejects with ServiceError. */
  usage(id: string, view: View, client: Caller): Promise<Buffer>;
  /** Asks a machine, or has a command carried out there, for a client. Rejects with ServiceError. */
  ask(
    id: string,
    what: string,
    params: Params,
    client: Caller,
    follower?: CommandFollower,
  ): Promise<AskedAnswer>;
  /** A question of the hub itself, for all who follow a topic. Rejects with ServiceError. */
  poll(id: string, what: string, params: Params): Promise<AskedAnswer>;
}

/** A WebSocket that follows all machines. */
export interface FleetFollower {
  /** `number`: of the event, one more than that of the one before. */
  publish(event: Buffer, number: number): void;
}

/** An event with every machine that matches, and the number of the newest event that it contains. */
export interface FleetWhole {
  readonly event: Buffer;
  readonly number: number;
}

/** A follower's place among those of the same filter and view. */
export interface FleetPlace {
  whole(): FleetWhole;
  leave(): void;
}

export interface SocketRooms extends SocketAsking {
  /** undefined: there is none of that id. */
  find(id: string): SocketHost | undefined;
  /** A HostList as JSON. Throws ServiceError. */
  list(filter: FleetData<'hosts'>): Buffer;
  /** Throws ServiceError. */
  joinFleet(data: FleetData<'subscribe'>, follower: FleetFollower, client: Caller): FleetSubscription;
}

export interface FleetSubscription extends FleetPlace {
  /** Names in `fields` that are no sections. */
  readonly ignored: readonly string[];
}
