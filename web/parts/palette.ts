/** The colours of the style sheet, for canvases: read again when the scheme changes. */
import { Value } from '../value.ts';

export const SERIES = ['series-1', 'series-2', 'series-3', 'series-4', 'series-5', 'series-6'] as const;
export type Colour = (typeof SERIES)[number] | 'muted' | 'grid';

/** Changes when all charts must be redrawn. */
export const scheme = new Value(0);

const known = new Map<Colour, string>();

/** As #rrggbb, so that an opacity can be appended. */
export function colourOf(name: Colour): string {
  let colour = known.get(name);
  if (colour === undefined) {
    // Cached, because reading it makes the browser recompute changed styles.
    colour = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
    known.set(name, colour);
  }
  return colour;
}

matchMedia('screen and (prefers-color-scheme: dark)').addEventListener('change', () => {
  known.clear();
  scheme.set(scheme.current + 1);
});
