/** Renders only the visible rows of a long table: 10,000 rows cost as much as 40. */
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Rows beyond each edge, so that the Tab key and a short scroll find the next ones. */
const OVERSCAN = 12;
/** The first and the last row move in steps, so that most scroll events render nothing. */
const STEP = 6;
/** Used until a row has been measured. */
const GUESSED_ROW_PX = 34;

export interface Virtual {
  /** The element that scrolls. */
  readonly ref: RefObject<HTMLElement | null>;
  /**
   * For its events `scroll` and `focusin`: the focus scrolls immediately, and the event comes a frame later, when the next
   * Tab may have left the rendered rows.
   */
  readonly onScroll: () => void;
  readonly first: number;
  /** Exclusive. */
  readonly end: number;
  /** The height of the rows before the first and after the last, in pixels. */
  readonly beforePx: number;
  readonly afterPx: number;
}

/** For `count` rows, all as high as the first `tbody tr` in the element. */
export function useVirtual(count: number): Virtual {
  const ref = useRef<HTMLElement>(null);
  const [rowPx, setRowPx] = useState(GUESSED_ROW_PX);
  const [[from, to], setView] = useState<readonly [number, number]>([0, 4 * OVERSCAN]);
  const look = () => {
    const box = ref.current;
    if (box === null) return;
    const firstSeen = Math.floor(box.scrollTop / rowPx / STEP) * STEP;
    const seen = Math.ceil(box.clientHeight / rowPx) + STEP;
    const next = [firstSeen - OVERSCAN, firstSeen + seen + OVERSCAN] as const;
    if (next[0] !== from || next[1] !== to) setView(next);
  };
  useLayoutEffect(() => {
    const height = ref.current?.querySelector('tbody tr')?.getBoundingClientRect().height ?? 0;
    if (height > 0 && Math.abs(height - rowPx) > 0.01) setRowPx(height);
    else look();
  });
  // The text size or the width may change while nothing else does.
  const [, render] = useState(0);
  useEffect(() => {
    if (ref.current === null) return undefined;
    const resized = new ResizeObserver(() => render((turn) => turn + 1));
    resized.observe(ref.current);
    return () => resized.disconnect();
  }, []);
  const end = Math.min(count, Math.max(to, 0));
  const first = Math.min(Math.max(from, 0), end);
  return { ref, onScroll: look, first, end, beforePx: first * rowPx, afterPx: (count - end) * rowPx };
}
