/** The result of a one-shot command: text for standard output, and an exit code. */
import { cleanLines, escapeJson } from '../clean.ts';

export interface Output {
  readonly text: string;
  /** `text` has escape sequences for colours: the command has cleaned every text in it. */
  readonly isPainted?: true;
  readonly exitCode: number;
}

/** Returns `text` as a terminal may get it: names in it may be from anywhere. */
export const printable = ({ text, isPainted }: Pick<Output, 'text' | 'isPainted'>): string =>
  isPainted === true ? text : cleanLines(text);

/** Returns the value as `--json` prints it, with escapes for everything that a terminal would obey. */
export const jsonText = (value: unknown): string => `${escapeJson(JSON.stringify(value, undefined, 2))}\n`;
