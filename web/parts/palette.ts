/** The colours of the style sheet, for canvases: read again when the scheme changes. */
import { Value } from '../value.ts';

export const SERIES = ['series-1', 'series-2', 'series-3', 'series-4', 'series-5', 'series-6'] as const;
export type Colour = (typeof SERIES)[number] | 'muted' | 'grid';

/** Changes when all charts must be drawn anew. */
export const scheme = new Value(0);

const known = new Map<Colour, string>();

/** Six hexadecimal digits behind a #, so that an opacity can follow. */
export function colourOf(name: Colour): string {
  let colour = known.get(name);
  if (colour === undefined) {
    // Kept: asking makes the browser work out all styles that have changed.
    colour = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
    known.set(name, colour);
  }
  return colour;
}

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  known.clear();
  scheme.set(scheme.current + 1);
});
