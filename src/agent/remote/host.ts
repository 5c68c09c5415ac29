/** One machine of the hub, however it is reached. */
import type { Caller } from '../../access/caller.ts';
import type { ServiceError } from '../../errors.ts';
import type { TopicSink } from '../../machine/machine.ts';
import type { View } from '../../stats/view.ts';
import type { HostRow } from '../../wire/hub.ts';
import type { Ask, HostAnswer, RemoteClient } from './ask.ts';
import type { Condition } from './reachability.ts';
import type { Upstream } from './upstream.ts';

/** A follower of a topic that a machine sends on its own. */
export type PushedSink = Pick<TopicSink, 'onPayload' | 'onLost'>;

export interface Host extends RemoteClient {
  readonly id: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly condition: Condition;
  /** Changes with the condition. */
  readonly version: number;
  readonly isUp: boolean;
  readonly upstreams: readonly Upstream[];
  /** That of /api/hosts. */
  readonly row: HostRow;
  upstreamOf(view: View): Upstream;
  /** Follows a topic that the machine sends on its own; returns a function that ends it, or undefined for another topic. */
  followTopic(name: string, sink: PushedSink): (() => void) | undefined;
  /** The payload of one sample, at most a second old. Rejects with ServiceError. */
  usage(view: View, who: Caller): Promise<Buffer>;
  /** At most 10 s old. Rejects with ServiceError. */
  system(withDetail: boolean, who: Caller): Promise<Buffer>;
  /** Clients' commands come through `CommandGateway`, which judges them. */
  ask(ask: Ask): Promise<HostAnswer>;
  /** The error for its clients while it is not up. */
  refusal(): ServiceError;
  /** Ends all streams; returns how many still have to take what they were sent before. */
  close(): number;
}
