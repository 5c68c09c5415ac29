/** The open streams by view, and passes over all of them that can stop and continue while streams come and go. */
import type { StreamSocket } from '../../http/engine.ts';

/** Maximum time that a pass holds the event loop in one turn. */
const SLICE_MS = 4;
/** Writes between two looks at the clock (one write costs about 10 µs). */
const WRITES_PER_LOOK = 32;

/** The place of a pass: each list is walked from its end, so that swap-remove skips none. */
export interface Pass {
  list: number;
  place: number;
}

const START: Readonly<Pass> = { list: 0, place: Number.MAX_SAFE_INTEGER };

/** The subscribers of one view. */
interface List {
  readonly view: number;
  readonly sockets: StreamSocket[];
}

export const beginPass = (): Pass => ({ ...START });

export class Subscribers {
  readonly #now: () => number;
  /**
   * Each is made when its view is first wanted, and stays in its place, which passes rely on. A hub has one of these objects
   * per watched machine, mostly with one view: lists for all 64 took 3 KiB.
   */
  readonly #lists: List[] = [];
  #size = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  get size(): number {
    return this.#size;
  }

  /** A copy, for changes on the way. */
  get all(): readonly StreamSocket[] {
    return this.#lists.flatMap(({ sockets }) => sockets);
  }

  add(socket: StreamSocket): void {
    const { index } = socket.view;
    let list = this.#listOf(index);
    if (list === undefined) {
      list = { view: index, sockets: [] };
      this.#lists.push(list);
    }
    socket.place = list.sockets.length;
    list.sockets.push(socket);
    this.#size++;
  }

  /** False when it was removed before. */
  remove(socket: StreamSocket): boolean {
    const { view, place } = socket;
    const sockets = this.#listOf(view.index)?.sockets;
    if (sockets?.[place] !== socket) return false;
    const last = sockets.pop();
    if (last !== undefined && last !== socket) {
      last.place = place;
      sockets[place] = last;
    }
    this.#size--;
    return true;
  }

  /** Continues `pass` until its slice is used up; true when it is complete. `visit` returns whether it wrote. */
  walk(pass: Pass, visit: (socket: StreamSocket) => boolean): boolean {
    const now = this.#now;
    const endsAt = now() + SLICE_MS;
    let writes = 0;
    for (; pass.list < this.#lists.length; pass.list++, pass.place = START.place) {
      const sockets = this.#lists[pass.list]?.sockets ?? [];
      for (let place = Math.min(pass.place, sockets.length - 1); place >= 0; place--) {
        const socket = sockets[place];
        if (socket === undefined || !visit(socket)) continue;
        if (++writes % WRITES_PER_LOOK !== 0 || now() < endsAt) continue;
        pass.place = place - 1;
        return false;
      }
    }
    return true;
  }

  #listOf(view: number): List | undefined {
    return this.#lists.find((list) => list.view === view);
  }
}
