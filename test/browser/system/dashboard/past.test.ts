/** The past of the charts: what the service has recorded, gaps, ranges, marks and events. */
import '../../../helpers/service/dead-buses.ts';
import t, { type Test } from 'tap';
import { livelyHost } from '../../../helpers/fakes/lively-host.ts';
import { type ConfigPart, serveHere } from '../../../helpers/service/service.ts';
import { auditPage, card, openLive, skipBrowser, startBrowser, until } from '../../browser.ts';
import {
  chartOf,
  drawnAt,
  FIVE_MINUTES,
  isDrawn,
  isFilled,
  KnownPast,
  labelOf,
  openPast,
  PAST,
  panelOf,
  rangeSwitch,
  sliderOf,
} from '../../dashboard/past-rig.ts';

const QUICK: ConfigPart = { stats: { stream_interval_seconds: 1 } };
const HOUR = /^Chart of the last hour\. Processor: Load \d+ %\.$/;

t.setTimeout(280_000);

if (skipBrowser) t.test('the past in Chromium', { skip: skipBrowser }, () => undefined);
else {
  const browser = await startBrowser(t);

  const open = (t: Test, past: KnownPast, how = {}) => openPast(t, browser, past, how);
  t.test('the charts have what the service has recorded before the page was opened', async (t) => {
    // The machine of this host runs on its battery.
    const history = { minutes: 60, idle_interval_seconds: 1, on_battery: true };
    const service = await serveHere(t, livelyHost(), { ...QUICK, history });
    const recorded = async () => {
      const answer = await fetch(`${service.baseUrl}/api/history?series=cpu.load&since=-300&step=1`);
      const { start, series } = (await answer.json()) as {
        readonly start: number;
        readonly series: Readonly<Record<string, { readonly mean: readonly (number | null)[] }>>;
      };
      return (series['cpu.load']?.mean ?? []).flatMap((load, i) =>
        load === null ? [] : [[start + i, load] as const],
      );
    };
    const before = await until(recorded, (points) => points.length > 5);
    const { page, requested, complaints } = await openLive(t, browser, service.baseUrl);
    await rangeSwitch(page).waitFor();
    const asked = requested.filter((url) => /\/api\/(?:history|stream)/.test(url));
    t.match(asked[0], /\/api\/history\?.*since=-300&step=1/, 'the history is requested before the stream');
    const slider = sliderOf(page, 'Processor');
    const timeOf = (at: number) =>
      page.evaluate<string>(`new Date(${at * 1000}).toLocaleTimeString('en-GB')`);
    const wanted = new Map<string, string>();
    for (const [at, load] of before.slice(-6, -1)) wanted.set(await timeOf(at), `${load.toFixed(0)} %`);
    const seen = new Map<string, string>();
    await slider.focus();
    for (let i = 0; i < 290 && seen.size < wanted.size; i++) {
      await page.keyboard.press('ArrowLeft');
      const words = (await slider.getAttribute('aria-valuetext')) ?? '';
      const [, time = '', load = ''] = /^(\S+): Load (.*)$/.exec(words) ?? [];
      if (wanted.has(time)) seen.set(time, load);
    }
    t.strictSame([...seen].sort(), [...wanted].sort());
    t.strictSame(complaints, []);
  });

  t.test(
    'an hour: chosen for all charts, remembered, with bands, and continued by each sample',
    async (t) => {
      const past = new KnownPast();
      const { page, complaints } = await open(t, past);
      t.match(await labelOf(page), FIVE_MINUTES);
      const inBand = (PAST.mean + PAST.max) / 2;
      t.equal(await isDrawn(page, 'Processor', 0.3, inBand), false, 'no band at 1 s');
      await rangeSwitch(page).getByRole('radio', { name: '5 min' }).focus();
      await page.keyboard.press('ArrowRight');
      t.equal(await rangeSwitch(page).getByRole('radio', { name: '1 h' }).isChecked(), true);
      await until(() => isDrawn(page, 'Processor', 0.3, inBand), true);
      t.match(await labelOf(page), HOUR);
      t.equal(await isDrawn(page, 'Processor', 0.3, PAST.max + 8), false, 'nothing above the band');
      t.equal(await isDrawn(page, 'Processor', 1 - 1350 / 3600, PAST.mean), false, 'the gap of this range');
      t.match(await chartOf(page, 'Memory').getAttribute('aria-label'), /^Chart of the last hour/);
      const hours = past.asked.filter(({ since, step }) => since === -3600 && step === 10);
      t.equal(hours.length, 1, 'requested once');
      const first = await labelOf(page);
      t.ok(
        await until(
          () => labelOf(page),
          (words) => words !== first,
        ),
        'samples continue',
      );
      await page.reload();
      await isFilled(page);
      t.match(await labelOf(page), HOUR, 'remembered');
      await rangeSwitch(page).getByRole('radio', { name: '5 min' }).check();
      await until(() => labelOf(page), FIVE_MINUTES);
      t.strictSame(complaints, []);
    },
  );

  t.test('each core is requested when it is shown', async (t) => {
    const past = new KnownPast();
    const { page, complaints } = await open(t, past);
    const cores = () =>
      past.asked.filter(({ series, step }) => step === 1 && series.includes('cpu.core/*')).length;
    t.equal(cores(), 0);
    await page.getByRole('checkbox', { name: 'Each core' }).check();
    await until(async () => cores(), 1);
    t.strictSame(complaints, []);
  });

  t.test('marks are lines with a text, events a list with the processes of their time', async (t) => {
    const past = new KnownPast();
    const now = Math.floor(Date.now() / 1000);
    past.marks = [{ at: now - 150, kind: 'suspend', seconds: 60, text: 'The machine slept for 1 min.' }];
    const event = { rule: 'busy', series: 'cpu.load', value: 97 } as const;
    const processes = { cpu: [{ name: 'burn', count: 1, value: 97 }], memory: null, disk: null };
    past.events = [
      { ...event, at: now - 100, state: 'begin', text: 'The load was above 90 % for 30 s.', processes },
      { ...event, at: now - 50, state: 'end', text: 'The load is below 90 % again.' },
    ];
    const { page, complaints } = await open(t, past, { bypassCSP: true });
    // At a height at which nothing else is drawn.
    const line = await until(
      () => drawnAt(page, 'Memory', 90),
      (places) => places.length > 0,
    );
    t.ok(line.length < 4, 'one thin line');
    const events = card(page, 'Events');
    const rows = await events.getByRole('listitem').allInnerTexts();
    t.equal(rows.length, 2);
    t.match(rows[0], /\d\d:\d\d:\d\d The load is below/);
    t.match(rows[1], /The load was above 90 %/, 'the newest first');
    await events.getByText('The load was above').click();
    t.match(await events.innerText(), /burn\s+97\.0 %/);
    const slider = sliderOf(page, 'Processor');
    await slider.focus();
    const mark = panelOf(page).getByText('The machine slept for 1 min.');
    for (let i = 0; i < 300 && !(await mark.isVisible()); i++) await page.keyboard.press('ArrowLeft');
    t.equal(await mark.isVisible(), true, 'at that moment its text is shown');
    // The processes of another moment are paler until those of this one have come.
    await panelOf(page).locator('.old').waitFor({ state: 'detached' });
    t.strictSame(await auditPage(page), [], 'axe-core, with a moment and an open event');
    t.strictSame(complaints, []);
  });
}
