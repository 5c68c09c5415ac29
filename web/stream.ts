/** The one stream of the page: Server-Sent Events over fetch, because only fetch can send the key in a header. */
import { request } from './requests.ts';

/** A comment comes after 15 s of silence: a stream that says nothing for longer is dead. */
const SILENCE_LIMIT_MS = 20_000;

/** Cuts the text of an event stream into the `data` of its messages. */
export function eventParser(onData: (data: string) => void): (text: string) => void {
  let rest = '';
  return (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.startsWith('data: ')) onData(line.slice(6));
  };
}

/**
 * Calls `onData` for each message until the stream ends, which it does by throwing: RequestError where it was not opened,
 * an AbortError after `signal`.
 */
export async function readStream(
  path: string,
  { signal, onData }: { readonly signal: AbortSignal; readonly onData: (data: string) => void },
): Promise<never> {
  // What ends it: silence, or the signal.
  const silence = new AbortController();
  const stop = () => silence.abort();
  signal.addEventListener('abort', stop);
  let timer = setTimeout(stop, SILENCE_LIMIT_MS);
  try {
    const answer = await request(path, { signal: silence.signal });
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    const parse = eventParser(onData);
    for (;;) {
      const part = await reader?.read();
      if (part === undefined || part.done) throw new Error('the stream has ended');
      clearTimeout(timer);
      timer = setTimeout(stop, SILENCE_LIMIT_MS);
      parse(part.value);
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}
