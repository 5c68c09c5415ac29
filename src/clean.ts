/** The one function that makes a text from elsewhere fit for a terminal, a log or an error message. Pure. */

/**
 * C0, DEL and C1 begin escape sequences or forge lines; bidirectional controls (UAX #9) show a text in another order;
 * U+2028 and U+2029 end lines; a lone surrogate is not a character.
 */
const UNSAFE = /[\p{Cc}\p{Cs}\p{Bidi_C}\u2028\u2029]/gu;
/** JSON.stringify has escaped C0 and lone surrogates; the line ends left in it are its own. */
const UNSAFE_IN_JSON = /[\x7f-\x9f\p{Bidi_C}\u2028\u2029]/gu;

/** `text` in at most `max` UTF-16 units: line ends and tabs become blanks, everything else that is unsafe `?`. */
export function clean(text: string, max: number): string {
  const cut = text.length > max ? `${text.slice(0, max - 1)}…` : text;
  return cut.replace(UNSAFE, (found) => (found.trim() ? '?' : ' '));
}

/** The lines of `text`, each cleaned; the line ends between them stay. */
export const cleanLines = (text: string): string =>
  text
    .split('\n')
    .map((line) => clean(line, line.length))
    .join('\n');

/** `json`, as JSON.stringify writes it, with escapes for everything that `clean` would replace: no value changes. */
export const escapeJson = (json: string): string =>
  json.replaceAll(UNSAFE_IN_JSON, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Maximum length of a text from a file in a message. */
export const MAX_SHOWN_CHARACTERS = 60;

/** Text from a file, quoted, shortened and without control characters. */
export function quote(text: string): string {
  const isLong = text.length > MAX_SHOWN_CHARACTERS;
  return escapeJson(JSON.stringify(isLong ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text));
}
