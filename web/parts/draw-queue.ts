/** Draws one chart per frame, because drawing all of them in one frame would delay typing and scrolling. */

type Draw = () => void;

const waiting = new Set<Draw>();
let isScheduled = false;

function drawNext(): void {
  isScheduled = false;
  const [next] = waiting;
  if (next === undefined) return;
  waiting.delete(next);
  schedule();
  next();
}

function schedule(): void {
  if (isScheduled || waiting.size === 0) return;
  isScheduled = true;
  requestAnimationFrame(drawNext);
}

/** Queues a drawing, once, however often it is requested before its turn. */
export function requestDraw(draw: Draw): void {
  waiting.add(draw);
  schedule();
}

export function cancelDraw(draw: Draw): void {
  waiting.delete(draw);
}
