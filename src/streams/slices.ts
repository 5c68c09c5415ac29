/** Work on many sockets, a few per turn of the event loop, so that other requests never wait for all of them. */
import type { Defer } from '../clock.ts';

/** Messages sent in one turn of the event loop: each costs about 10 µs. */
const MESSAGES_PER_TURN = 128;

/** Calls `visit` for each of `items`, a few per turn of the event loop. */
export function inSlices<T>(items: readonly T[], defer: Defer, visit: (item: T) => void): void {
  const step = (from: number) => {
    for (const item of items.slice(from, from + MESSAGES_PER_TURN)) visit(item);
    if (from + MESSAGES_PER_TURN < items.length) defer(() => step(from + MESSAGES_PER_TURN));
  };
  step(0);
}
