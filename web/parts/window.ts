/** Renders only the visible part of a long list, which scrolls with the page or in an element `.scroll`: 10,000 rows cost as much as 40. */
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Margin beyond each edge of what is visible, so that the Tab key and a short scroll find the next items. */
const MARGIN_PX = 200;
/** The first and the last row move in steps, so that most scroll events render nothing. */
const STEP = 4;
/** Used until a row has been measured. */
const GUESSED: Layout = { columns: 1, rowPx: 34 };

interface Layout {
  /** Items per row. */
  readonly columns: number;
  /** Height, including the gap to the next row. */
  readonly rowPx: number;
}

interface View extends Layout {
  /** Rows. */
  readonly first: number;
  readonly end: number;
}

export interface Shown {
  readonly ref: RefObject<HTMLDivElement | null>;
  readonly first: number;
  /** Exclusive. */
  readonly end: number;
  /** The height of the rows before the first and after the last. */
  readonly beforePx: number;
  readonly afterPx: number;
  /**
   * Returns the key of an item by its index, so that elements are reused: while the list scrolls, those of one end move
   * to the other, and another order changes texts only.
   */
  readonly keyOf: (index: number) => number;
}

/** Measures the rendered items, which are marked with `data-item` and equally high. */
function measure(list: HTMLElement): Layout | undefined {
  const items = [...list.querySelectorAll<HTMLElement>('[data-item]')];
  const [head] = items;
  if (head === undefined) return undefined;
  const { top, height } = head.getBoundingClientRect();
  if (height === 0) return undefined;
  const columns = items.findIndex((item) => item.getBoundingClientRect().top > top + 1);
  const next = columns < 0 ? undefined : items[columns];
  return {
    columns: columns < 0 ? Math.max(items.length, 1) : columns,
    rowPx: next === undefined ? height : next.getBoundingClientRect().top - top,
  };
}

const scrollerOf = (list: HTMLElement) => list.closest('.scroll');

const isSame = (a: View, b: View) =>
  a.columns === b.columns && a.first === b.first && a.end === b.end && Math.abs(a.rowPx - b.rowPx) < 0.1;

/** For `count` items in the element of `ref`, in which nothing else is higher than a row. */
export function useWindow(count: number): Shown {
  const ref = useRef<HTMLDivElement>(null);
  const layout = useRef(GUESSED);
  const [view, setView] = useState<View>({ ...GUESSED, first: 0, end: 40 });
  const look = () => {
    if (ref.current === null) return;
    const { rowPx } = layout.current;
    const box = scrollerOf(ref.current);
    const above = (box?.getBoundingClientRect().top ?? 0) - ref.current.getBoundingClientRect().top;
    const seenPx = box?.clientHeight ?? innerHeight;
    const first = Math.max(0, Math.floor((above - MARGIN_PX) / rowPx / STEP) * STEP);
    const end = Math.max(first + 1, Math.ceil((above + seenPx + MARGIN_PX) / rowPx / STEP) * STEP);
    const next = { ...layout.current, first, end };
    setView((now) => (isSame(now, next) ? now : next));
  };
  const remeasure = () => {
    layout.current = (ref.current && measure(ref.current)) ?? layout.current;
    look();
  };
  // Not with each event: measuring makes the browser lay out the page synchronously.
  useLayoutEffect(remeasure, [count, view]);
  useEffect(() => {
    if (ref.current === null) return undefined;
    const resized = new ResizeObserver(remeasure);
    resized.observe(ref.current);
    const stop = new AbortController();
    const { signal } = stop;
    (scrollerOf(ref.current) ?? window).addEventListener('scroll', look, { passive: true, signal });
    // The focus scrolls immediately, and the event comes a frame later, when the next Tab may have left the rendered rows.
    ref.current.addEventListener('focusin', look, { signal });
    addEventListener('resize', remeasure, { signal });
    return () => {
      resized.disconnect();
      stop.abort();
    };
  }, [count > 0]);
  const { columns, rowPx } = view;
  const all = Math.ceil(count / columns);
  const end = Math.min(all, view.end);
  const first = Math.min(view.first, Math.max(0, end - 1));
  // Windows of nearly the same size use the same number of keys.
  const keys = 2 ** Math.ceil(Math.log2(Math.max(1, (end - first) * columns)));
  return {
    ref,
    first: first * columns,
    end: Math.min(count, end * columns),
    keyOf: (index) => index % keys,
    beforePx: first * rowPx,
    afterPx: (all - end) * rowPx,
  };
}
