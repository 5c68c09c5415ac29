/** The open streams of a fan-out, and passes over all of them that can stop and continue while streams come and go. */
import type { StreamSocket } from '../http/engine.ts';

/** Maximum time that a pass holds the event loop in one turn. */
const SLICE_MS = 4;
/** Writes between two looks at the clock (one write costs about 10 µs). */
const WRITES_PER_LOOK = 32;

/** The place of a pass: the list is walked from its end, so that swap-remove skips none. */
export interface Pass {
  place: number;
}

export const beginPass = (): Pass => ({ place: Number.MAX_SAFE_INTEGER });

export class StreamList {
  readonly #now: () => number;
  readonly #sockets: StreamSocket[] = [];

  constructor(now: () => number) {
    this.#now = now;
  }

  get size(): number {
    return this.#sockets.length;
  }

  /** A copy, for changes on the way. */
  get all(): readonly StreamSocket[] {
    return [...this.#sockets];
  }

  add(socket: StreamSocket): void {
    socket.place = this.#sockets.length;
    this.#sockets.push(socket);
  }

  /** False when it was removed before. */
  remove(socket: StreamSocket): boolean {
    const { place } = socket;
    if (this.#sockets[place] !== socket) return false;
    const last = this.#sockets.pop();
    if (last !== undefined && last !== socket) {
      last.place = place;
      this.#sockets[place] = last;
    }
    return true;
  }

  /** Continues `pass` until its slice is used up; true when it is complete. `visit` returns whether it wrote. */
  walk(pass: Pass, visit: (socket: StreamSocket) => boolean): boolean {
    const endsAt = this.#now() + SLICE_MS;
    let writes = 0;
    for (let place = Math.min(pass.place, this.#sockets.length - 1); place >= 0; place--) {
      const socket = this.#sockets[place];
      if (socket === undefined || !visit(socket)) continue;
      if (++writes % WRITES_PER_LOOK !== 0 || this.#now() < endsAt) continue;
      pass.place = place - 1;
      return false;
    }
    return true;
  }
}
