/** The table of `hostwire doctor`, and helpers for rows that do not come from the machine's readers. */
import { clean } from '../../clean.ts';
import { TEXTS } from '../../fairness/limits.ts';
import type { Finding } from '../../host/finding.ts';

export const works = (subject: string, source: string): Finding => ({
  subject,
  status: 'works',
  source,
  reason: null,
  remedy: null,
});

/** Why something does not work, or only in part, and its remedy. */
export interface Obstacle {
  readonly reason: string;
  readonly remedy?: string;
}

export const partly = (subject: string, source: string, { reason, remedy }: Obstacle): Finding => ({
  subject,
  status: 'partly',
  source,
  reason,
  remedy: remedy ?? null,
});

export const missing = (subject: string, source: string, obstacle: Obstacle): Finding => ({
  ...partly(subject, source, obstacle),
  status: 'missing',
});

/** The word for each status in the table; `--json` has the status itself. */
const WORDS: Readonly<Record<Finding['status'], string>> = {
  works: 'ok',
  partly: 'partly',
  missing: 'missing',
};
const STATUS_WIDTH = WORDS.missing.length;

/** One line per row; its reason and its remedy are on lines of their own below it. */
export function printRows(rows: readonly Finding[]): string {
  const width = Math.max(...rows.map(({ subject }) => subject.length));
  const below = ' '.repeat(width + 2 + STATUS_WIDTH + 2);
  const lines = rows.flatMap(({ subject, status, source, reason, remedy }) => [
    `${subject.padEnd(width)}  ${WORDS[status].padEnd(STATUS_WIDTH)}  ${clean(source, TEXTS.field)}`,
    ...(reason === null ? [] : [`${below}why: ${clean(reason, TEXTS.field)}`]),
    ...(remedy === null ? [] : [`${below}try: ${clean(remedy, TEXTS.field)}`]),
  ]);
  return lines.map((line) => `${line}\n`).join('');
}
