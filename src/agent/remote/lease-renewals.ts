/** Sends the interest in each machine to agents that report on their own: when it changes, and before they forget it. */
import type { Clock } from '../../clock.ts';

/** The interest in a machine; undefined: none. */
interface OfInterest {
  readonly interest: object | undefined;
}

export interface LeaseRenewalsOptions<Host extends OfInterest> {
  readonly clock: Pick<Clock, 'now'>;
  /** Whether anything can be sent now. */
  readonly isReady: () => boolean;
  /** Sends the interest in it; false: it was not sent, and is sent again at the next look. */
  readonly send: (host: Host) => boolean;
  /** Agents forget it after 10 s; it is sent again after this time. */
  readonly renewMs: number;
  /** Called before the interest in these machines is sent, and its result afterwards. */
  readonly begin?: (changed: readonly Host[]) => () => void;
}

/** `look` is called this often. */
export const LOOK_MS = 1000;

export class LeaseRenewals<Host extends OfInterest> {
  readonly #options: LeaseRenewalsOptions<Host>;
  /** Machines whose interest is to be sent at the end of this turn. */
  readonly #changed = new Set<Host>();
  /** When the interest in each was sent. */
  readonly #sent = new Map<Host, number>();

  constructor(options: LeaseRenewalsOptions<Host>) {
    this.#options = options;
  }

  /** All that changes in one turn is one message. */
  changed(host: Host): void {
    if (this.#changed.size === 0) setImmediate(() => this.flush());
    this.#changed.add(host);
  }

  flush(): void {
    const { isReady, begin } = this.#options;
    const changed = [...this.#changed];
    this.#changed.clear();
    if (!isReady()) return;
    const end = begin?.(changed);
    for (const host of changed) {
      if (host.interest !== undefined || this.#sent.has(host)) this.#send(host);
      if (host.interest === undefined) this.#sent.delete(host);
    }
    end?.();
  }

  look(nowMs: number): void {
    const { renewMs } = this.#options;
    for (const [host, sentAtMs] of this.#sent)
      if (nowMs - sentAtMs >= renewMs - LOOK_MS / 2) this.#send(host);
  }

  /** Agents have forgotten all of them. */
  clear(): void {
    this.#sent.clear();
  }

  #send(host: Host): void {
    const { clock, send } = this.#options;
    this.#sent.set(host, send(host) ? clock.now() : Number.NEGATIVE_INFINITY);
  }
}
