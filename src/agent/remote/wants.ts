/** The wants of machines whose agents report on their own: sent when they change, and again before agents forget them. */
import type { Clock } from '../../clock.ts';

/** The want for a machine; undefined: nothing. */
interface Wanted {
  readonly want: object | undefined;
}

export interface WantsOptions<Host extends Wanted> {
  readonly clock: Pick<Clock, 'now'>;
  /** Whether anything can be sent now. */
  readonly isReady: () => boolean;
  /** Sends it its want; false: it was not sent, and is sent again at the next look. */
  readonly send: (host: Host) => boolean;
  /** Agents forget a want after 10 s; it is sent again after this time. */
  readonly renewMs: number;
  /** Called before the wants of these are sent, and its result afterwards. */
  readonly begin?: (changed: readonly Host[]) => () => void;
}

/** `look` is called this often. */
export const LOOK_MS = 1000;

export class Wants<Host extends Wanted> {
  readonly #options: WantsOptions<Host>;
  /** Machines whose wants are to be sent at the end of this turn. */
  readonly #changed = new Set<Host>();
  /** When the want of each was sent. */
  readonly #sent = new Map<Host, number>();

  constructor(options: WantsOptions<Host>) {
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
      if (host.want !== undefined || this.#sent.has(host)) this.#send(host);
      if (host.want === undefined) this.#sent.delete(host);
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
