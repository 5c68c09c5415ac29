/** Splits long work into slices, so that all other work of the service runs in between. */
import { type Defer, deferToNextTurn } from '../clock.ts';

/** Maximum time in one turn of the event loop, exceeded by one step at most. */
export const SLICE_MS = 1;

/** Returns the result of `steps`, which run in as many turns as they take. */
export async function inTurns<T>(steps: Generator<undefined, T>, defer: Defer = deferToNextTurn): Promise<T> {
  let sliceEndsAt = performance.now() + SLICE_MS;
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    if (performance.now() < sliceEndsAt) continue;
    await new Promise<void>(defer);
    sliceEndsAt = performance.now() + SLICE_MS;
  }
}
