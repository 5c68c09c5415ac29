/** A payload of the history as JSON, column by column: 33,000 numbers take 2.5 ms. */
import type { HistoryPayload } from '../wire/history.ts';

/** Yields after each part of JSON.stringify(payload). */
export function* encodeHistory(payload: HistoryPayload): Generator<undefined, readonly string[]> {
  const parts: string[] = [];
  function* write(value: unknown): Generator<undefined, void> {
    parts.push(JSON.stringify(value));
    yield;
  }
  function* writeObject(
    object: object,
    writeValue: (value: unknown, key: string) => Generator<undefined, void>,
  ): Generator<undefined, void> {
    let mark = '{';
    for (const [key, value] of Object.entries(object)) {
      if (value === undefined) continue;
      parts.push(`${mark}${JSON.stringify(key)}:`);
      yield* writeValue(value, key);
      mark = ',';
    }
    parts.push(mark === '{' ? '{}' : '}');
  }
  // The values of the record are columns.
  const writeSeries = (one: unknown) => writeObject(one as object, write);
  yield* writeObject(payload, (value, key) =>
    key === 'series' ? writeObject(payload.series, writeSeries) : write(value),
  );
  return parts;
}
