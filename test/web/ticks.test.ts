/** The labels of a time axis: at whole parts of the day by the clock of the device, as many as fit. */
import process from 'node:process';
import t from 'tap';
import { momentText, tickText } from '../../web/format.ts';
import { tickStep, ticksIn } from '../../web/parts/ticks.ts';

process.env['TZ'] = 'Europe/Berlin';
const at = (text: string) => new Date(text).getTime() / 1000;

t.test('the steps that fit', async (t) => {
  t.equal(tickStep(300, 400, 55), 60);
  t.equal(tickStep(300, 200, 55), 120);
  t.equal(tickStep(86_400, 400, 55), 21_600);
  t.equal(tickStep(365 * 86_400, 400, 55), 91 * 86_400);
  for (const seconds of [60, 3600, 86_400, 7 * 86_400, 30 * 86_400, 365 * 86_400])
    for (const plotPx of [120, 250, 400, 900])
      t.ok((tickStep(seconds, plotPx, 55) / seconds) * plotPx >= Math.min(55, plotPx * 0.24), `${seconds} s`);
});

t.test('ticks are whole hours and days here, also where summer time begins or ends', async (t) => {
  const textsOf = (from: string, until: string, step: number) =>
    ticksIn(at(from), at(until), step)
      .map((tick) => tickText(tick, step))
      .join(', ');
  t.equal(textsOf('2026-11-28T13:59:30+01:00', '2026-11-28T14:02:30+01:00', 60), '14:00, 14:01, 14:02');
  t.equal(
    textsOf('2026-11-28T14:00:05+01:00', '2026-11-28T14:00:35+01:00', 10),
    '14:00:10, 14:00:20, 14:00:30',
  );
  t.equal(textsOf('2026-11-28T17:00+01:00', '2026-11-29T07:00+01:00', 21_600), '18:00, 29 Nov, 06:00');
  t.equal(
    textsOf('2026-10-23T12:00+02:00', '2026-10-27T12:00+01:00', 86_400),
    '24 Oct, 25 Oct, 26 Oct, 27 Oct',
  );
  t.equal(textsOf('2026-03-28T12:00+01:00', '2026-03-31T12:00+02:00', 86_400), '29 Mar, 30 Mar, 31 Mar');
});

t.test('a moment has its date, unless that is today', async (t) => {
  t.match(momentText(Date.now() / 1000), /^\d\d:\d\d:\d\d$/);
  t.equal(momentText(at('2001-02-03T04:05:06+01:00')), '3 Feb 2001 04:05:06');
  t.equal(momentText(at('2001-02-03T04:05:06+01:00'), 60), '3 Feb 2001 04:05');
});
