/** Web pages attack the service through a real browser: they succeed without the guard, and fail with it. */
import '../../helpers/service/dead-buses.ts';
import t from 'tap';
import { besiege } from '../attack/besiege.ts';
import { reasonAgainstChromium, startChromium } from '../attack/chromium.ts';
import { checkSights } from '../attack/oracle.ts';
import { checkRightfulUses } from '../attack/rightful.ts';
import { ROWS } from '../attack/rows.ts';
import { reasonAgainstBus, startSiege } from '../attack/siege.ts';

const skip = reasonAgainstChromium || reasonAgainstBus;
const only = process.env['ROWS']?.split(',');
const rows = only === undefined ? ROWS : ROWS.filter(({ id }) => only.includes(id));
t.setTimeout(300_000);

t.test('Chromium, auth off and its address listed', { skip, timeout: 300_000 }, async (t) => {
  const siege = await startSiege(t, startChromium);
  const begun = performance.now();
  const findings = await besiege(t, siege, rows, false);
  const seconds = ((performance.now() - begun) / 1000).toFixed(0);
  t.comment(`${siege.browser.version}: ${rows.length} rows, ${findings.length} attempts in ${seconds} s`);

  await t.test('legitimate use still works', (t) => checkRightfulUses(t, siege));

  await t.test('[2.unseen] existing and missing things look equal', (t) => checkSights(t, siege));
});
