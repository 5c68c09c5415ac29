/** The JSON that one request to an agent is answered with, as bytes. */
import { BadAnswer } from './answer.ts';
import { AgentRequest, checkHead, type Failure, type RequestOptions } from './request.ts';
import type { Target } from './target.ts';

const MAX_BYTES = 4 * 2 ** 20;

/** Resolves with the bytes or the failure; never rejects. `close` gives it up, and it stays open for good. */
export function fetchJson(
  target: Target,
  path: string,
  limits: Pick<RequestOptions, 'headMs' | 'silenceMs'>,
): { readonly answer: Promise<Buffer | Failure>; readonly close: () => void } {
  const parts: Buffer[] = [];
  let length = 0;
  let close = () => {};
  const answer = new Promise<Buffer | Failure>((resolve) => {
    const request = new AgentRequest(
      target,
      { method: 'GET', path, ...limits },
      {
        onHead: (head) => checkHead(head, 'application/json'),
        onBody(bytes, start, end) {
          length += end - start;
          if (length > MAX_BYTES) throw new BadAnswer('its answer is too long');
          parts.push(Buffer.from(bytes.subarray(start, end)));
        },
        onEnd: (failure) => resolve(failure ?? Buffer.concat(parts)),
      },
    );
    close = () => request.close();
  });
  return { answer, close };
}
