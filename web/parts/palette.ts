/** The colours of the style sheet, for canvases: read again when the scheme changes. */
import { Value } from '../value.ts';

export type Colour =
  | 'series-1'
  | 'series-2'
  | 'series-3'
  | 'series-4'
  | 'series-5'
  | 'series-6'
  | 'muted'
  | 'grid';
export const SERIES = ['series-1', 'series-2', 'series-3', 'series-4', 'series-5', 'series-6'] as const;

/** Changes when all charts must be drawn anew. */
export const scheme = new Value(0);

let style: CSSStyleDeclaration | undefined;

/** Six hexadecimal digits behind a #, so that an opacity can follow. */
export function colourOf(name: Colour): string {
  style ??= getComputedStyle(document.documentElement);
  return style.getPropertyValue(`--${name}`).trim();
}

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => scheme.set(scheme.current + 1));
