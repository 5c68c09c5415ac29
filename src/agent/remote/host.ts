/** One machine of the hub, however it is reached. */
import type { ServiceError } from '../../errors.ts';
import type { View } from '../../stats/view.ts';
import type { HostRow } from '../../wire/hub.ts';
import type { Ask, Asker, HostAnswer, Reach } from './ask.ts';
import type { Lane } from './lane.ts';
import type { Condition } from './standing.ts';

/** A follower of a topic. */
export interface TopicSink {
  /** `json`: an object. */
  readonly onPayload: (json: string) => void;
  /** Called when earlier payloads may be old: the machine is gone, or has started again. */
  readonly onLost: () => void;
}

export interface Host extends Reach {
  readonly id: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly condition: Condition;
  /** Changes with the condition. */
  readonly version: number;
  readonly isUp: boolean;
  readonly lanes: readonly Lane[];
  /** That of /api/hosts. */
  readonly row: HostRow;
  laneOf(view: View): Lane;
  /**
   * Follows a topic that the machine sends on its own; returns a function that ends it, or undefined where it does not send
   * that one. Absent where it sends none.
   */
  followTopic?(name: string, sink: TopicSink): (() => void) | undefined;
  /** The payload of one sample, at most a second old. Rejects with ServiceError. */
  usage(view: View, who: Asker): Promise<Buffer>;
  /** At most 10 s old. Rejects with ServiceError. */
  system(withDetail: boolean, who: Asker): Promise<Buffer>;
  /** Clients' commands come through `CommandGateway`, which judges them. */
  ask(ask: Ask): Promise<HostAnswer>;
  /** The error for its clients while it is not up. */
  refusal(): ServiceError;
  /** Ends all streams; returns how many still have to take what they were sent before. */
  close(): number;
}
