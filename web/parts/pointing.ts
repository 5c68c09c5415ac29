/** Chooses moments and times in a chart: by pointer, finger and keyboard. A mouse selects a time by uPlot's own dragging. */
import { moment, selected } from '../chosen.ts';
import { leave, pin } from '../moment.ts';
import { shown, zoomIn, zoomOut } from '../past.ts';

/** A click moves the pointer by less, in pixels: otherwise a time was selected. */
const DRAG_PX = 5;
/** Time after which a finger that rests selects, instead of scrolling the page. */
const HOLD_MS = 400;

const extend = (at: number) => selected.set([selected.current?.[0] ?? at, at]);

/** Shows the selected time in all charts. */
function zoom(): void {
  const [from, to] = selected.current ?? [0, 0];
  selected.set(undefined);
  if (from === to) return;
  leave();
  zoomIn(Math.min(from, to), Math.max(from, to));
}

/**
 * Calls `choose` with the slot at the pointer in `target`, and whether it was clicked; a finger that rests and then moves
 * selects a time. Returns a function that stops.
 */
export function followPointer(
  target: HTMLElement,
  choose: (slot: number, isClick: boolean) => void,
): () => void {
  const stop = new AbortController();
  const { signal } = stop;
  let begin = { clientX: 0, clientY: 0, timeStamp: 0 };
  let timer: ReturnType<typeof setTimeout> | undefined;
  const follow = (event: PointerEvent) => {
    const { type, clientX, clientY, pointerType, timeStamp } = event;
    if (type === 'pointerdown') begin = event;
    const hasMoved = Math.hypot(clientX - begin.clientX, clientY - begin.clientY) >= DRAG_PX;
    // Without the axes.
    const box = target.querySelector('.u-over')?.getBoundingClientRect();
    if (box === undefined || (type === 'click' && hasMoved)) return;
    const { times } = shown();
    const part = Math.min(1, Math.max(0, (clientX - box.left) / box.width));
    const slot = Math.round(part * (times.length - 1));
    if (pointerType === 'touch') {
      if (type === 'pointerdown') timer = setTimeout(extend, HOLD_MS, times[slot]);
      if (hasMoved) clearTimeout(timer);
      // On a busy page the timer may fire before a move that was earlier.
      if (hasMoved && timeStamp - begin.timeStamp < HOLD_MS) selected.set(undefined);
      if (selected.current !== undefined) extend(times[slot] ?? 0);
    }
    choose(slot, type === 'click');
  };
  for (const type of ['pointermove', 'pointerdown', 'click'] as const)
    target.addEventListener(type, follow, { signal, capture: true });
  const end = ({ type }: Event) => {
    clearTimeout(timer);
    if (type === 'pointerup') zoom();
    else selected.set(undefined);
  };
  for (const type of ['pointerup', 'pointercancel']) target.addEventListener(type, end, { signal });
  // The page neither scrolls nor opens a menu while a finger selects.
  const hold = (event: Event) => {
    if (selected.current !== undefined && event.cancelable) event.preventDefault();
  };
  for (const type of ['touchmove', 'contextmenu'])
    target.addEventListener(type, hold, { signal, passive: false });
  target.addEventListener(
    'pointerleave',
    ({ pointerType }) => {
      // A finger leaves when it is lifted; its choice remains.
      if (pointerType !== 'touch') leave();
    },
    { signal },
  );
  return () => stop.abort();
}

/** For the slider of a chart, at the moment `at`: Enter pins it; Shift selects, then Enter zooms; Escape and Backspace go back. */
export function onKey(event: KeyboardEvent, at: number): void {
  const { key, shiftKey } = event;
  if (/^(?:Arrow|Page|Home|End)/.test(key))
    selected.set(shiftKey ? (selected.current ?? [at, at]) : undefined);
  else if (key === 'Enter' && selected.current === undefined) pin(moment.current);
  else if (key === 'Enter') zoom();
  else if (key === 'Escape' && selected.current !== undefined) {
    selected.set(undefined);
    // The moment stays chosen until the next one.
    event.stopPropagation();
  } else if (key === 'Backspace' || (key === 'Escape' && moment.current === undefined)) zoomOut();
}

/** The slider was moved to the moment `at`. */
export function onMoved(at: number): void {
  if (selected.current !== undefined) extend(at);
}
