/** A payload of the history as JSON, column by column, so that nothing else waits for 100,000 numbers. */
import type { Defer } from '../clock.ts';
import type { HistoryPayload } from '../wire/history.ts';

/** Written in one turn of the event loop, or one column where that takes longer: 33,000 numbers take 2 ms. */
const SLICE_MS = 1;

/** As JSON.stringify(payload). */
export async function encodeHistory(payload: HistoryPayload, defer: Defer): Promise<string> {
  let sliceEndsAt = performance.now() + SLICE_MS;
  const write = async (value: unknown): Promise<string> => {
    if (performance.now() >= sliceEndsAt) {
      await new Promise<void>(defer);
      sliceEndsAt = performance.now() + SLICE_MS;
    }
    return JSON.stringify(value);
  };
  const writeObject = async (object: object, writeValue: (value: never) => Promise<string>) => {
    let text = '';
    for (const [key, value] of Object.entries(object))
      if (value !== undefined)
        text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${await writeValue(value as never)}`;
    return `{${text}}`;
  };
  const { start, step, count, series, ...rest } = payload;
  const columns = await writeObject(series, (one: object) => writeObject(one, write));
  const others = await writeObject(rest, write);
  return `{"start":${start},"step":${step},"count":${count},"series":${columns},${others.slice(1)}`;
}
