/** Lines for a terminal: cleaned, measured in columns, cut to a width, and painted. Pure. */
import { stripVTControlCharacters } from 'node:util';
import { clean as cleanText } from '../../clean.ts';

export type Tone = 'plain' | 'dim' | 'bold' | 'title' | 'good' | 'warn' | 'bad' | 'selected';

/** A text of one tone. Only `span` creates it, so that every text is clean. */
export interface Span {
  readonly text: string;
  readonly tone: Tone;
}
export type Line = readonly Span[];

/** Capabilities of the terminal: 16 colours, attributes such as bold, or text only. */
export type Palette = 'colours' | 'attributes' | 'none';

const MAX_CHARACTERS = 512;
const PRINTABLE = /^[ -~]*$/;
const REGIONAL_A = 0x1f1e6;

/**
 * Cleans text from the service, which may be from anyone: titles of players, names of processes. Whole escape sequences
 * are removed before the rest is cleaned, and characters that terminals draw in different widths (joined emoji, flags)
 * are split into their parts.
 */
export function clean(text: string): string {
  if (text.length <= MAX_CHARACTERS && PRINTABLE.test(text)) return text;
  const narrowed = stripVTControlCharacters(text.slice(0, MAX_CHARACTERS))
    .normalize('NFC')
    .replaceAll(/[\p{Cf}\p{Variation_Selector}\p{Emoji_Modifier}]|(?<=\p{M})\p{M}/gu, '')
    .replaceAll(/\p{RI}/gu, (letter) => String.fromCharCode((letter.codePointAt(0) ?? 0) - REGIONAL_A + 65));
  // The width of an unassigned character is unknown.
  return cleanText(narrowed, MAX_CHARACTERS).replaceAll(/\p{C}/gu, '?');
}

export const span = (text: string, tone: Tone = 'plain'): Span => ({ text: clean(text), tone });

// East Asian Wide and Fullwidth (UAX #11), and characters that are drawn as an emoji.
const WIDE =
  /[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uA960-\uA97C\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF01-\uFF60\uFFE0-\uFFE6\u{16FE0}-\u{18AFF}\u{1B000}-\u{1B2FF}\u{1F200}-\u{1F265}\u{20000}-\u{3FFFD}\p{Emoji_Presentation}]/u;
const NARROWLESS = /[\p{Mn}\p{Me}\u1160-\u11FF]/u;

const widthOf = (character: string) =>
  character <= '~' ? 1 : NARROWLESS.test(character) ? 0 : WIDE.test(character) ? 2 : 1;

/** Returns the width in columns. */
export function measure(text: string): number {
  if (PRINTABLE.test(text)) return text.length;
  let columns = 0;
  for (const character of text) columns += widthOf(character);
  return columns;
}

/** Returns the longest beginning of `text` that fits. */
function cut(text: string, columns: number): string {
  if (PRINTABLE.test(text)) return text.slice(0, columns);
  let at = 0;
  let left = columns;
  for (const character of text) {
    left -= widthOf(character);
    if (left < 0) break;
    at += character.length;
  }
  return text.slice(0, at);
}

/** Returns `text` in exactly `columns`, with `…` if it was cut. */
export function cell(raw: string, columns: number, side: 'left' | 'right' = 'left'): string {
  const text = clean(raw);
  const kept = measure(text) <= columns ? text : columns < 1 ? '' : `${cut(text, columns - 1)}…`;
  const room = ' '.repeat(columns - measure(kept));
  return side === 'left' ? kept + room : room + kept;
}

/** Returns `line` in exactly `columns`. */
export function fit(line: Line, columns: number): Line {
  let left = columns;
  const fitted: Span[] = [];
  for (const { text, tone } of line) {
    const kept = cut(text, left);
    fitted.push({ text: kept, tone });
    left -= measure(kept);
    if (kept !== text) break;
  }
  return left > 0 ? [...fitted, { text: ' '.repeat(left), tone: 'plain' }] : fitted;
}

// dim and bold are attributes. Bright black, the usual grey, is the background's colour in some themes.
const CODES: Readonly<Record<Palette, Readonly<Partial<Record<Tone, string>>>>> = {
  colours: { dim: '2', bold: '1', title: '1;36', good: '32', warn: '33', bad: '31', selected: '7' },
  attributes: { bold: '1', title: '1', bad: '1', selected: '7' },
  none: {},
};

/** `isPlaced`: the cursor is placed after each text beyond ASCII, whatever width the terminal has drawn. */
export function paint(line: Line, palette: Palette, isPlaced: boolean): string {
  let painted = '';
  let column = 1;
  for (const { text, tone } of line) {
    const code = CODES[palette][tone];
    const isBare = code === undefined || (tone !== 'selected' && text.trim() === '');
    painted += isBare ? text : `\x1b[${code}m${text}\x1b[m`;
    column += measure(text);
    if (isPlaced && !PRINTABLE.test(text)) painted += `\x1b[${column}G`;
  }
  return painted.trimEnd();
}
