/** Charts are drawn one a frame: all of them at once would hold up whoever types or scrolls. */

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

/** Once, however often it is asked for before its turn. */
export function requestDraw(draw: Draw): void {
  waiting.add(draw);
  schedule();
}

export function cancelDraw(draw: Draw): void {
  waiting.delete(draw);
}
