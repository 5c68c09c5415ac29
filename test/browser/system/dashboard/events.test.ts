/** The card of events: those that last, those of the shown time, and mutes with a reason. */
import '../../../helpers/service/dead-buses.ts';
import t from 'tap';
import { livelyHost } from '../../../helpers/fakes/lively-host.ts';
import { type ConfigPart, serveHere } from '../../../helpers/service/service.ts';
import { auditPage, card, openLive, PHONE, skipBrowser, startBrowser, until } from '../../browser.ts';
import { KnownPast, rangeSwitch } from '../../dashboard/past-rig.ts';

const QUICK: ConfigPart = { stats: { stream_interval_seconds: 1 } };
const HOUR = 3600;

t.setTimeout(280_000);

if (skipBrowser) t.test('events in Chromium', { skip: skipBrowser }, () => undefined);
else {
  const browser = await startBrowser(t);

  t.test('events: those that last first, whenever they began; muted with a reason', async (t) => {
    const past = new KnownPast();
    const now = Math.floor(Date.now() / 1000);
    const long = 'a-very-long-name-of-a-mount-point/'.repeat(4);
    const full = { rule: 'disk-full', series: `disk.used_percent//srv/${long}`, value: 91 } as const;
    past.events = [
      { at: now - 100, rule: 'busy', series: 'cpu.load', value: 97, state: 'begin', text: 'It is busy.' },
      { at: now - 4000, rule: 'busy', series: 'cpu.load', value: 97, state: 'begin', text: 'It was busy.' },
    ];
    const service = await serveHere(t, livelyHost(), QUICK, { history: past });
    const { page, complaints } = await openLive(t, browser, service.baseUrl, { ...PHONE, bypassCSP: true });
    past.report({ ...full, at: now - 3 * HOUR, state: 'begin', text: `Disk /srv/${long} is full` });
    const events = card(page, 'Events');
    const rows = () => events.getByRole('listitem').allInnerTexts();
    await until(rows, (texts) => texts.length === 2);
    const [first = '', second] = await rows();
    t.match(first, /^Since (?:\d+ \w+ )?\d\d:\d\d:\d\d: Disk \/srv/);
    t.match(second, /\d\d:\d\d:\d\d It is busy/);
    t.notMatch(second, 'It was busy', 'an hour ago is not in five minutes');
    const isWithin = async () =>
      await events.evaluate((box) =>
        [...box.querySelectorAll('li, li *')].every(
          (each) => each.getBoundingClientRect().right <= box.getBoundingClientRect().right + 0.5,
        ),
      );
    t.ok(await isWithin(), 'at 360 px');
    await page.evaluate("document.documentElement.style.fontSize = '200%'");
    t.ok(await isWithin(), 'and with text of twice the size');
    await page.evaluate("document.documentElement.style.fontSize = ''");
    await events.getByRole('button', { name: /^Mute/ }).click();
    await events.getByRole('textbox', { name: 'Reason' }).fill('moving films');
    t.strictSame(await auditPage(page), [], 'axe-core, with the form');
    await events.getByRole('button', { name: 'Mute', exact: true }).click();
    await events.getByText(/Muted until .*: moving films\. It is not sent/).waitFor();
    await events.getByRole('button', { name: 'Unmute' }).click();
    await events.getByRole('button', { name: /^Mute/ }).waitFor();
    await rangeSwitch(page).getByRole('radio', { name: '1 d' }).check();
    await events.getByText('It was busy.').waitFor();
    t.strictSame(complaints, []);
  });
}
