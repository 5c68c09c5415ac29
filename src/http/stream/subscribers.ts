/** The open streams by view, and passes over all of them that can stop and continue while streams come and go. */
import { VIEW_COUNT } from '../../stats/view.ts';
import type { StreamSocket } from '../engine.ts';

/** Maximum time that a pass holds the event loop in one turn. */
const SLICE_MS = 4;
/** Writes between two looks at the clock (one write costs about 10 µs). */
const WRITES_PER_LOOK = 32;

/** The place of a pass: each list is walked from its end, so that swap-remove skips none. */
export interface Pass {
  view: number;
  place: number;
}

const START: Readonly<Pass> = { view: 0, place: Number.MAX_SAFE_INTEGER };

export const beginPass = (): Pass => ({ ...START });

export class Subscribers {
  readonly #now: () => number;
  readonly #lists: StreamSocket[][] = Array.from({ length: VIEW_COUNT }, () => []);
  #size = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  get size(): number {
    return this.#size;
  }

  /** A copy, for changes on the way. */
  get all(): readonly StreamSocket[] {
    return this.#lists.flat();
  }

  add(socket: StreamSocket): void {
    const list = this.#listAt(socket.view.index);
    socket.place = list.length;
    list.push(socket);
    this.#size++;
  }

  /** False when it was removed before. */
  remove(socket: StreamSocket): boolean {
    const { view, place } = socket;
    const list = this.#listAt(view.index);
    if (list[place] !== socket) return false;
    const last = list.pop();
    if (last !== undefined && last !== socket) {
      last.place = place;
      list[place] = last;
    }
    this.#size--;
    return true;
  }

  /** Continues `pass` until its slice is used up; true when it is complete. `visit` returns whether it wrote. */
  walk(pass: Pass, visit: (socket: StreamSocket) => boolean): boolean {
    const now = this.#now;
    const endsAt = now() + SLICE_MS;
    let writes = 0;
    for (; pass.view < VIEW_COUNT; pass.view++, pass.place = START.place) {
      const list = this.#listAt(pass.view);
      for (let place = Math.min(pass.place, list.length - 1); place >= 0; place--) {
        const socket = list[place];
        if (socket === undefined || !visit(socket)) continue;
        if (++writes % WRITES_PER_LOOK !== 0 || now() < endsAt) continue;
        pass.place = place - 1;
        return false;
      }
    }
    return true;
  }

  #listAt(index: number): StreamSocket[] {
    const list = this.#lists[index];
    if (list === undefined) throw new RangeError(`no view ${index}`);
    return list;
  }
}
