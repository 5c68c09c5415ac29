/** The attacks in Chromium and in Firefox, on every target with HOSTWIRE_FULL=1; prints a row per attack. */
import '../helpers/service/dead-buses.ts';
import process from 'node:process';
import t from 'tap';
import { besiege } from '../browser/attack/besiege.ts';
import { reasonAgainstChromium, startChromium } from '../browser/attack/chromium.ts';
import { reasonAgainstFirefox, startFirefox } from '../browser/attack/firefox.ts';
import { checkSights } from '../browser/attack/oracle.ts';
import { checkRightfulUses } from '../browser/attack/rightful.ts';
import { ROWS } from '../browser/attack/rows.ts';
import { reasonAgainstBus, startSiege } from '../browser/attack/siege.ts';
import { lineOf } from '../browser/attack/table.ts';

const BROWSERS = [
  { name: 'Chromium', start: startChromium, reason: reasonAgainstChromium },
  { name: 'Firefox', start: startFirefox, reason: reasonAgainstFirefox },
];
/** True: each row runs on every target, by address and by name. False: on one target by address and on one by name. */
const IS_FULL = process.env['HOSTWIRE_FULL'] === '1';
/** Only these rows, to look at one attack. */
const only = process.env['ROWS']?.split(',');
const rows = ROWS.filter(({ id }) => only === undefined || only.includes(id));
t.setTimeout(3_600_000);

for (const { name, start, reason } of BROWSERS)
  t.test(`all attacks in ${name}`, { skip: reason || reasonAgainstBus }, async (t) => {
    const siege = await startSiege(t, start);
    const findings = await besiege(t, siege, rows, IS_FULL);
    await t.test('legitimate requests still work', (t) => checkRightfulUses(t, siege));
    await t.test('[2.unseen] an existing resource looks like a missing one', (t) => checkSights(t, siege));
    const { version } = siege.browser;
    t.comment(`figure: ${version}: ${findings.length} attempts, none through the guard`);
    for (const row of rows) t.comment(lineOf(row, findings));
  });
