/** Reads the body of an answer, as far as its limit. */
import { tooLarge } from './errors.ts';
import { PIECE_BYTES } from './limits.ts';

/** Rejects with `too_large` beyond `max` bytes, and cancels the rest. */
export async function readText({ body }: Response, max: number): Promise<string> {
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (let kept = 0; reader !== undefined; ) {
    const { done, value } = await reader.read();
    if (done) break;
    kept += value.length + PIECE_BYTES;
    if (kept > max) {
      // A server need not notice, so nothing waits for it.
      reader.cancel().catch(() => undefined);
      throw tooLarge('an answer');
    }
    text += decoder.decode(value, { stream: true });
  }
  return text + decoder.decode();
}
