/** The capabilities of a terminal. */

export type Variables = Readonly<Record<string, string | undefined>>;

export interface Face {
  readonly palette: 'none' | 'attributes' | 'colours';
  readonly isAscii: boolean;
  /** The cursor can be moved. */
  readonly isFull: boolean;
}

/** Determines the capabilities of the terminal. `isTerminal`: the output is one. */
export function judgeTerminal(variables: Variables, isTerminal: boolean): Face {
  const isFull = isTerminal && variables['TERM'] !== 'dumb';
  const locale = variables['LC_ALL'] || variables['LC_CTYPE'] || variables['LANG'] || 'UTF-8';
  return {
    isFull,
    palette: !isFull ? 'none' : variables['NO_COLOR'] ? 'attributes' : 'colours',
    // The console of Linux has neither braille nor all blocks.
    isAscii: variables['TERM'] === 'linux' || !/utf-?8/i.test(locale),
  };
}
