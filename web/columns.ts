/** Arranges cards in columns on the page. They keep their columns while only their heights change. */
import { columnsIn, placesOf } from './placing.ts';
import { Value } from './value.ts';

/** Height of a row of the grid, as in the style sheet. */
const ROW_PX = 4;
const GAP_REM = 0.875;
/** Height of a card that has not been measured. */
const USUAL_PX = 300;

const remPx = (): number => Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
const widthRem = (): number => document.documentElement.clientWidth / remPx();

/** Columns that the page has room for. */
export const columns = new Value(columnsIn(widthRem()));

const mark = (count: number) => {
  const { classList } = document.documentElement;
  classList.toggle('narrow', count <= 2);
  classList.toggle('phone', count === 1);
};
mark(columns.current);
columns.watch(mark);

const spanOf = (card: Element): number => (card.classList.contains('wide') ? 2 : 1);

/** Arranges the children of `grid`, and again when they change; returns a function that stops. */
export function arrange(grid: HTMLElement): () => void {
  const heights = new Map<Element, number>();
  let cards: readonly HTMLElement[] = [];
  let placed: readonly unknown[] = [];

  const place = () => {
    columns.set(columnsIn(widthRem()));
    const units = cards.reduce((sum, card) => sum + spanOf(card), 0);
    const count = Math.min(columns.current, units);
    const known = cards.map((card) => `${heights.has(card)} ${card.className}`);
    const now = [count, ...cards, ...known];
    if (now.length === placed.length && now.every((each, i) => each === placed[i])) return;
    placed = now;
    grid.style.setProperty('--columns', String(count));
    const boxes = cards.map((card) => ({ span: spanOf(card), height: heights.get(card) ?? USUAL_PX }));
    const places = placesOf(boxes, count);
    cards.forEach((card, i) => {
      card.style.gridColumn = `${(places[i] ?? 0) + 1} / span ${Math.min(spanOf(card), count)}`;
    });
  };
  const sizes = new ResizeObserver((entries) => {
    const gap = GAP_REM * remPx();
    for (const { target, borderBoxSize } of entries) {
      const height = (borderBoxSize[0]?.blockSize ?? 0) + gap;
      heights.set(target, height);
      if (target instanceof HTMLElement) target.style.gridRowEnd = `span ${Math.ceil(height / ROW_PX)}`;
    }
    // Other widths here would resize what was just observed, which browsers report as an error.
    if (columnsIn(widthRem()) === columns.current) place();
    else requestAnimationFrame(place);
  });
  const watchCards = () => {
    cards = [...grid.children].filter((child) => child instanceof HTMLElement);
    for (const card of cards) sizes.observe(card);
    for (const card of heights.keys())
      if (card.parentElement !== grid) {
        sizes.unobserve(card);
        heights.delete(card);
      }
    place();
  };
  const changes = new MutationObserver(watchCards);
  changes.observe(grid, { childList: true });
  addEventListener('resize', place);
  watchCards();
  return () => {
    removeEventListener('resize', place);
    changes.disconnect();
    sizes.disconnect();
  };
}
