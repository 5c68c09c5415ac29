/** A payload of the history as JSON, column by column, so that nothing else waits for 100,000 numbers. */
import type { Defer } from '../clock.ts';
import type { HistoryPayload } from '../wire/history.ts';

/** Time in one turn of the event loop, exceeded by one column at most: 33,000 numbers take 2.5 ms. */
const SLICE_MS = 1;

/** JSON.stringify(payload), in parts. */
export async function encodeHistory(payload: HistoryPayload, defer: Defer): Promise<readonly string[]> {
  const parts: string[] = [];
  let sliceEndsAt = performance.now() + SLICE_MS;
  const write = async (value: unknown) => {
    parts.push(JSON.stringify(value));
    if (performance.now() < sliceEndsAt) return;
    await new Promise<void>(defer);
    sliceEndsAt = performance.now() + SLICE_MS;
  };
  const writeObject = async (object: object, writeValue: (value: unknown, key: string) => Promise<void>) => {
    let mark = '{';
    for (const [key, value] of Object.entries(object)) {
      if (value === undefined) continue;
      parts.push(`${mark}${JSON.stringify(key)}:`);
      await writeValue(value, key);
      mark = ',';
    }
    parts.push(mark === '{' ? '{}' : '}');
  };
  // The values of the record are columns.
  const writeSeries = (one: unknown) => writeObject(one as object, write);
  await writeObject(payload, (value, key) =>
    key === 'series' ? writeObject(payload.series, writeSeries) : write(value),
  );
  return parts;
}
