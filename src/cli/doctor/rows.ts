/** The table that `hostwire doctor` prints, and the rows that are written here rather than by the machine's readers. */
import type { Finding } from '../../host/finding.ts';

export const works = (subject: string, source: string): Finding => ({
  subject,
  status: 'works',
  source,
  reason: null,
  remedy: null,
});

/** Why something does not work, or not fully, and what it would take. */
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

const STATUS_WIDTH = 'missing'.length;

/** One line per row; its reason and its remedy stand on lines of their own below it. */
export function printRows(rows: readonly Finding[]): string {
  const width = Math.max(...rows.map(({ subject }) => subject.length));
  const below = ' '.repeat(width + 2 + STATUS_WIDTH + 2);
  const lines = rows.flatMap(({ subject, status, source, reason, remedy }) => [
    `${subject.padEnd(width)}  ${status.padEnd(STATUS_WIDTH)}  ${source}`,
    ...(reason === null ? [] : [`${below}why: ${reason}`]),
    ...(remedy === null ? [] : [`${below}try: ${remedy}`]),
  ]);
  return lines.map((line) => `${line}\n`).join('');
}
