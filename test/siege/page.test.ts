/** Different tests write the sections of docs/evidence/security-proof.md; none overwrites another. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { tableLines } from '../browser/attack/proof-page.ts';
import { HEADING, sectionOf, withSection } from '../browser/rebinding/section.ts';
import { ATTACKS } from './attacks.ts';
import type { Summary } from './observations.ts';
import { keepSieges, renderSiege, siegeSection, tableOf, withoutSieges, withSiege } from './page.ts';

const summaries = [
  {
    name: 'idle connections',
    times: 3,
    rate: '50 connections/s',
    worstStatusMs: 9,
    worstLateMs: 8,
    peakMib: 1,
  },
  // Like a row of the other table.
  { name: 'floods', times: 3, rate: '50 frames/s', worstStatusMs: 9, worstLateMs: 8, peakMib: 1 },
];
const section = renderSiege({ sieges: [], summaries, minutes: 20, seed: 1, when: '2026-01-01' });
const PAGE = '# Title\n\nText.\n\n| a site | row-a | acted, 1 of 1 (a browser) | nothing, 1 of 1: 403 |\n';

t.test('a page without the section gets it at its end, and can lose it again', async (t) => {
  const page = withSiege(PAGE, section);
  t.ok(page.startsWith(PAGE));
  t.equal(siegeSection(page), section);
  t.equal(withoutSieges(page), PAGE);
  t.strictSame(tableLines(withoutSieges(page)), tableLines(PAGE));
});

t.test('a new section takes the place of the old one, whatever follows it', async (t) => {
  const page = `${withSiege(PAGE, section)}\n## More\n`;
  const other = renderSiege({ sieges: [], summaries, minutes: 5, seed: 2, when: '$& 2026-01-02' });
  t.equal(
    withSiege(page, other),
    page.replace(section, () => other),
  );
  t.equal(withSiege(page, ''), page);
});

t.test('the section on names and that of the siege leave each other alone, in either order', async (t) => {
  const names = `${HEADING}\n\nOld.`;
  const newNames = `${HEADING}\n\nNew.`;
  for (const page of [
    withSiege(withSection(PAGE, names), section),
    withSection(withSiege(PAGE, section), names),
  ]) {
    t.equal(siegeSection(withSection(page, newNames)), section);
    t.equal(sectionOf(withSiege(page, section.replace('20 minutes', '5 minutes'))), names);
  }
});

t.test('the sections of a service and of a hub leave each other alone', async (t) => {
  const hub = renderSiege({
    sieges: [],
    summaries,
    minutes: 20,
    seed: 1,
    when: '2026-01-01',
    what: 'hub',
  });
  t.not(hub, section);
  const page = withSiege(withSiege(PAGE, section), hub, 'hub');
  t.equal(siegeSection(page), section);
  t.equal(siegeSection(page, 'hub'), hub);
  t.equal(withoutSieges(page), PAGE);
  const newer = hub.replace('20 minutes', '5 minutes');
  t.equal(
    withSiege(page, newer, 'hub'),
    page.replace(hub, () => newer),
  );
  t.equal(keepSieges(PAGE, page), page);
  t.equal(keepSieges(PAGE, PAGE), PAGE);
});

t.test('a row says how many connections were ended or answered in time', async (t) => {
  const [, , row] = tableOf([
    { ...summaries[0], endings: { due: 12, overdue: 2, slowestSeconds: 0.31 } } as Summary, // There is one.
  ]);
  t.ok(row?.endsWith('| 10 of 12, 0.3 s |'), String(row));
});

t.test('the page has the ten attacks with the slowest answers, and each that ended connections late', async (t) => {
  const late = { due: 2, overdue: 1, slowestSeconds: 40 };
  const rows = Array.from({ length: 13 }, (_, i) => ({
    ...{ name: `attack ${i}`, times: 3, rate: '1 request/s', worstStatusMs: i, worstLateMs: 1, peakMib: 1 },
    ...(i === 0 && { endings: late }),
  }));
  const page = renderSiege({ sieges: [], summaries: rows, minutes: 20, seed: 1, when: '2026-01-01' });
  const names = [...page.matchAll(/^\| (attack \d+) \|/gm)].map(([, name]) => name);
  t.strictSame(names, ['attack 0', ...rows.slice(3).map(({ name }) => name)]);
  t.match(page, 'Of 2 connections that had to be ended or answered, 1 were in time.');
});

t.test('each attack has a name of its own, and the shipped page has only rows of these', async (t) => {
  const names = new Set(ATTACKS.map(({ name }) => name));
  t.equal(names.size, ATTACKS.length);
  t.ok(names.size > 50, `${names.size} attacks`);
  const file = path.resolve(import.meta.dirname, '../../../../docs/evidence/security-proof.md');
  const page = readFileSync(file, 'utf8');
  for (const what of ['service', 'hub'] as const) {
    const rows = [...siegeSection(page, what).matchAll(/^\| (?!attack )([^|-][^|]*?) \|/gm)];
    for (const [, name = ''] of rows) t.ok(names.has(name), name);
  }
});
