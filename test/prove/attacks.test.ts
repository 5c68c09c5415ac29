/** The attacks in Chromium and in Firefox, on every target with HOSTWIRE_FULL=1; writes docs/evidence/security-proof.md. */
import '../helpers/service/dead-buses.ts';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { besiege } from '../browser/attack/besiege.ts';
import { reasonAgainstChromium, startChromium } from '../browser/attack/chromium.ts';
import { reasonAgainstFirefox, startFirefox } from '../browser/attack/firefox.ts';
import { checkSights } from '../browser/attack/oracle.ts';
import { type Run, renderProof } from '../browser/attack/proof-page.ts';
import { checkRightfulUses } from '../browser/attack/rightful.ts';
import { ROWS } from '../browser/attack/rows.ts';
import { reasonAgainstBus, startSiege } from '../browser/attack/siege.ts';
import { sectionOf, withSection } from '../browser/rebinding/section.ts';
import { keepSieges } from '../siege/page.ts';

const PAGE = path.resolve(import.meta.dirname, '../../../../docs/evidence/security-proof.md');
const BROWSERS = [
  { name: 'Chromium', start: startChromium, reason: reasonAgainstChromium },
  { name: 'Firefox', start: startFirefox, reason: reasonAgainstFirefox },
];
/** True: each row runs on every target, by address and by name. False: on one target by address and on one by name. */
const IS_FULL = process.env['HOSTWIRE_FULL'] === '1';
const runs: Run[] = [];
t.setTimeout(3_600_000);

for (const { name, start, reason } of BROWSERS)
  t.test(`all attacks in ${name}`, { skip: reason || reasonAgainstBus }, async (t) => {
    const siege = await startSiege(t, start);
    const findings = await besiege(t, siege, ROWS, IS_FULL);
    await t.test('legitimate requests still work', (t) => checkRightfulUses(t, siege));
    await t.test('an existing resource looks like a missing one', (t) => checkSights(t, siege));
    const { version } = siege.browser;
    runs.push({ version, findings });
    t.comment(`figure: ${version}: ${findings.length} attempts, none through the guard`);
  });

t.test(
  'the page is written',
  { skip: BROWSERS.some(({ reason }) => reason) && 'a browser is missing' },
  async (t) => {
    if (!t.equal(runs.length, BROWSERS.length, 'both have run')) return;
    const old = readFileSync(PAGE, 'utf8');
    const page = renderProof(ROWS, runs, new Date().toISOString().slice(0, 10));
    // `prove rebinding`, `prove siege` and `prove hub-siege` write these sections.
    writeFileSync(PAGE, keepSieges(withSection(page, sectionOf(old)), old));
  },
);
