/** Long work in slices, so that what else the service does has its turns in between. */
import { type Defer, deferToNextTurn } from '../clock.ts';

/** Time in one turn of the event loop, exceeded by one step at most. */
export const SLICE_MS = 1;

/** The result of `steps`, which are made in as many turns as they take. */
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
