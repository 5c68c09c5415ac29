/** A text that commands a terminal, forges a line and turns the direction of writing; and what must be left of none. */

export const HOSTILE =
  'evil\x1b[2J\x1b]0;owned\x07\x9b31m\x90q\x9c\u202Egnp.exe\u2066\u200F\u061C\r\nforged\u2028line\x7f\x00\uD800';

/** Everything that a terminal obeys, a line's own end excepted. */
export const OBEYED =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
  /[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|\p{Cs}/u;
