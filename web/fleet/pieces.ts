/** Splits large answers, which take longer than a frame when they are read in one task. */

const nextTask = () => new Promise<void>((resolve) => setTimeout(resolve));

/** Returns the same answer, with a task per chunk of its body. */
export function inPieces(answer: Response): Response {
  const { body, status, headers } = answer;
  if (body === null || !answer.ok) return answer;
  const spaced = new TransformStream<Uint8Array, Uint8Array>({
    async transform(chunk, controller) {
      await nextTask();
      controller.enqueue(chunk);
    },
  });
  return new Response(body.pipeThrough(spaced), { status, headers });
}
