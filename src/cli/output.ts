/** The result of a one-shot command: text for standard output, and an exit code. */
import { clean, cleanLines, escapeJson } from '../clean.ts';

export interface Output {
  readonly text: string;
  /** `text` has escape sequences for colours: the command has cleaned all other text in it. */
  readonly isPainted?: true;
  readonly exitCode: number;
}

/** Returns `text` cleaned for a terminal: names in it may be from anywhere. */
export const printable = ({ text, isPainted }: Pick<Output, 'text' | 'isPainted'>): string =>
  isPainted === true ? text : cleanLines(text);

/** Returns `text` in one line: a line end in a name would forge another. */
export const inLine = (text: string): string => clean(text, text.length);

/** Returns lines with the columns of `rows`, each as wide as its widest cell. */
export function tableOf(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0))) ?? [];
  const lineOf = (row: readonly string[]) =>
    row.map((cell, at) => inLine(cell).padEnd(widths[at] ?? 0)).join('  ');
  return rows.map((row) => `${lineOf(row).trimEnd()}\n`).join('');
}

/** Returns the value as `--json` prints it, with escapes for all characters that control a terminal. */
export const jsonText = (value: unknown): string => `${escapeJson(JSON.stringify(value, undefined, 2))}\n`;
