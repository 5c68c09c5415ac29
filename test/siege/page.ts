/** The sections "The siege" and "The siege of a hub" of docs/evidence/security-proof.md, and their tables. */

import type { EndingReport } from './endings.ts';
import type { Summary } from './observations.ts';
import type { Siege } from './siege.ts';

export type Besieged = 'service' | 'hub';

/** The texts that begin and end a section: it begins with the heading, where the section before it ends. */
const MARKERS: Readonly<Record<Besieged, readonly [begin: string, end: string]>> = {
  service: ['## The siege\n\n<!-- written by `npm run prove siege` -->', '<!-- end of the siege -->'],
  hub: [
    '## The siege of a hub\n\n<!-- written by `npm run prove hub-siege` -->',
    '<!-- end of the siege of a hub -->',
  ],
};

/** In the order of the page. */
const KINDS: readonly Besieged[] = ['service', 'hub'];

/** The section on the page, with its markers; empty if it has none. */
export function siegeSection(page: string, what: Besieged = 'service'): string {
  const [begin, end] = MARKERS[what];
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  return from < 0 || to < from ? '' : page.slice(from, to + end.length);
}

/** The page with the sections that `old` has. */
export function keepSieges(page: string, old: string): string {
  return KINDS.reduce((kept, what) => withSiege(kept, siegeSection(old, what), what), page);
}

/** The page without the sections of sieges. */
export function withoutSieges(page: string): string {
  return KINDS.reduce((rest, what) => {
    const section = siegeSection(rest, what);
    return section === '' ? rest : `${rest.replace(section, '').trimEnd()}\n`;
  }, page);
}

/** The page with `section` in the place of the one it has, or at its end. */
export function withSiege(page: string, section: string, what: Besieged = 'service'): string {
  if (section === '') return page;
  const old = siegeSection(page, what);
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

const ROWS_SHOWN = 10;

/** Returns the attacks with the slowest answers, and each with a connection that was not ended in time. */
function worstOf(summaries: readonly Summary[]): readonly Summary[] {
  const slowest = summaries.toSorted((a, b) => b.worstStatusMs - a.worstStatusMs).slice(0, ROWS_SHOWN);
  return summaries.filter((row) => slowest.includes(row) || (row.endings?.overdue ?? 0) > 0);
}

export interface PageParts {
  readonly sieges: readonly Siege[];
  readonly summaries: readonly Summary[];
  readonly minutes: number;
  readonly seed: number;
  readonly when: string;
  /** Default: a service. */
  readonly what?: Besieged;
}

const SERVICE_WORDS = {
  start: '`npm run prove siege` starts the real service',
  honest: '20 streams and 10 WebSockets at one event per second',
  more: '',
};

const HUB_WORDS = {
  start:
    '`npm run prove hub-siege` starts the real hub with 50 machines, of which it connects to 25 and 25 dial in; two are real services',
  honest: '20 streams and 10 WebSockets of all machines and of single ones, at one event per second',
  more: ' Two commands per second to real machines, a new filter every 3 s and a machine that dials in every 5 s must each succeed, and no viewer may get a malformed sample. Of each direction three more machines are hostile, one for each attack at a time.',
};

export function renderSiege({ sieges, summaries, minutes, seed, when, what = 'service' }: PageParts): string {
  const events = sieges.reduce((sum, { last }) => sum + (last?.events ?? 0), 0);
  const missing = sieges.reduce((sum, { last }) => sum + (last?.missing ?? 0), 0);
  const [begin, end] = MARKERS[what];
  const { start, honest, more } = what === 'hub' ? HUB_WORDS : SERVICE_WORDS;
  const ended = summaries.flatMap(({ endings }) => endings ?? []);
  const due = ended.reduce((sum, endings) => sum + endings.due, 0);
  const overdue = ended.reduce((sum, endings) => sum + endings.overdue, 0);
  return `${begin}

${start}, and runs ${summaries.length} attacks in random order (seed ${seed}), three at a time, from 16 addresses of the loopback network and 16 blocked ones; ${minutes.toFixed(0)} minutes on ${when}. ${honest}, from other addresses and in another process, must miss nothing, and /api/status is requested 20 times per second, on new and on kept connections.${more} ${events} events were due to them; ${missing} were missing. Of ${due} connections that had to be ended or answered, ${due - overdue} were in time.

The table has the ${ROWS_SHOWN} attacks with the slowest answers and any that ended connections late. The values are the worst of all seconds in which the attack ran, beside two others; the last column has the connections that were ended or answered in time, and the slowest of them. Attackers run at the lowest priority, because on other machines they would not take the service's CPU. The forms: ${sieges.map(({ form }) => form.name).join('; ')}; times are not judged under sanitizers. All attacks are in test/siege/attacks; the tests print all rows, and [proofs](proofs.md) has the sums.

${tableOf(worstOf(summaries)).join('\n')}

${end}`;
}
