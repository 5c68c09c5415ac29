/** The section "The siege" of docs/security-proof.md, and its table. */

import type { EndingReport } from './endings.ts';
import type { Summary } from './ledger.ts';
import type { Siege } from './siege.ts';

/** It begins with the heading, where the section before it ends. */
const BEGIN = '## The siege\n\n<!-- written by `npm run prove siege` -->';
const END = '<!-- end of the siege -->';

/** The section on the page, with its markers; empty if it has none. */
export function siegeSection(page: string): string {
  const from = page.indexOf(BEGIN);
  const to = page.indexOf(END);
  return from < 0 || to < from ? '' : page.slice(from, to + END.length);
}

/** The page without the section. */
export function withoutSiege(page: string): string {
  const section = siegeSection(page);
  return section === '' ? page : `${page.replace(section, '').trimEnd()}\n`;
}

/** The page with `section` in the place of the one it has, or at its end. */
export function withSiege(page: string, section: string): string {
  if (section === '') return page;
  const old = siegeSection(page);
  // A function, because `$` has a meaning in a replacement text.
  return old === '' ? `${page.trimEnd()}\n\n${section}\n` : page.replace(old, () => section);
}

/** `12 of 12, 0.3 s`: how many connections, and the slowest of them. Empty where nothing is expected of the service. */
function endingWords(endings: EndingReport | undefined): string {
  if (endings === undefined) return '';
  const { due, overdue, slowestSeconds } = endings;
  return `${due - overdue} of ${due}, ${slowestSeconds.toFixed(1)} s`;
}

export function tableOf(summaries: readonly Summary[]): readonly string[] {
  return [
    '| attack | times | rate | worst status, ms | worst lateness, ms | memory over idle, MiB | ended or answered in time |',
    '|---|---|---|---|---|---|---|',
    ...summaries.map(
      ({ name, times, rate, worstStatusMs, worstLateMs, peakMib, endings }) =>
        `| ${name} | ${times} | ${rate} | ${worstStatusMs.toFixed(0)} | ${worstLateMs.toFixed(0)} | ${peakMib.toFixed(1)} | ${endingWords(endings)} |`,
    ),
  ];
}

export interface PageParts {
  readonly sieges: readonly Siege[];
  readonly summaries: readonly Summary[];
  readonly minutes: number;
  readonly seed: number;
  readonly when: string;
}

export function renderSiege({ sieges, summaries, minutes, seed, when }: PageParts): string {
  const events = sieges.reduce((sum, { last }) => sum + (last?.events ?? 0), 0);
  const missing = sieges.reduce((sum, { last }) => sum + (last?.missing ?? 0), 0);
  return `${BEGIN}

\`npm run prove siege\` starts the real service and runs every attack below in random order (seed ${seed}), three at a time, from 16 addresses of the loopback network; in ${minutes.toFixed(0)} minutes on ${when}. Meanwhile 20 streams and 10 WebSockets at one event per second, from other addresses and in another process, must miss nothing, and /api/status is asked 20 times per second, on new and on kept connections. ${events} events were due to them; ${missing} were missing.

The worst values of a row are those of all the seconds in which the attack ran, beside two others. The attackers run at the lowest priority, because on other machines they would not take the service's CPU. The forms of the service: ${sieges.map(({ form }) => form.name).join('; ')}. The last column has the connections that the service had to end or to answer, how many of them it did in time, and the slowest of these. The table has the forms whose times are judged.

${tableOf(summaries).join('\n')}

${END}`;
}
