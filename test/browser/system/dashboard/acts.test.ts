/** Commands of the dashboard, by the number of clicks that they take. */
import '../../../helpers/service/dead-buses.ts';
import type { Locator } from 'playwright-core';
import t from 'tap';
import type { PowerPayload } from '#src/wire/power.js';
import { livelyHost } from '../../../helpers/fakes/lively-host.ts';
import { playerOf, snapshotOf } from '../../../helpers/fakes/media.ts';
import { serveHere } from '../../../helpers/service/service.ts';
import { card, openLive, skipBrowser, startBrowser, until } from '../../browser.ts';

t.setTimeout(280_000);

/** Clicks, and counts the clicks. */
class Hand {
  clicks = 0;

  async click(target: Locator, options: Parameters<Locator['click']>[0] = {}): Promise<void> {
    this.clicks++;
    await target.click(options);
  }
}

if (skipBrowser) t.test('commands in Chromium', { skip: skipBrowser }, () => undefined);
else {
  const browser = await startBrowser(t);
  const features = { enable_sleep: true, enable_process_control: true };
  const CONFIG = { stats: { stream_interval_seconds: 1 }, features } as const;

  t.test('media: pause 1, volume 1, mute 1, another player 1', async (t) => {
    const host = livelyHost();
    const service = await serveHere(t, host, CONFIG);
    const { page, complaints } = await openLive(t, browser, service.baseUrl);
    const media = card(page, 'Media');
    const sent = () => host.media.controls.map(({ verb, value }) => `${verb} ${value ?? ''}`.trim());
    const hand = new Hand();
    await hand.click(media.getByRole('button', { name: 'Pause' }));
    await until(async () => sent().at(-1), 'pause');
    t.equal(hand.clicks, 1);
    const volume = media.getByRole('slider', { name: 'Volume' });
    const box = await volume.boundingBox();
    await hand.click(volume, { position: { x: (box?.width ?? 0) / 4, y: (box?.height ?? 0) / 2 } });
    await until(async () => sent().at(-1), /^set_volume 0\.2\d?$/);
    t.equal(hand.clicks, 2);
    await until(() => volume.getAttribute('aria-valuetext'), /^2\d %$/);
    await hand.click(media.getByRole('button', { name: 'Mute', exact: true }));
    await media.getByRole('button', { name: 'Unmute' }).click();
    await until(() => volume.getAttribute('aria-valuetext'), /^2\d %$/);
    const [first] = host.media.snapshot.players;
    const second = playerOf('mpv', { playback: 'paused', title: 'A film', volume: null });
    if (first !== undefined) host.media.change(snapshotOf({ ...first, playback: 'playing' }, second));
    await media.getByLabel('Player').selectOption('mpv');
    await media.getByText('A film').waitFor();
    t.equal(await volume.count(), 0, 'a player without a volume has no slider');
    await media.getByRole('button', { name: 'Play', exact: true }).click();
    await until(
      async () => host.media.controls.at(-1),
      (last) => last?.id === ':1.mpv' && last.verb === 'play',
    );
    // The fake player ends the others: the one that was chosen cannot be asked for any more.
    await media.getByText('An Ending (Ascent)').waitFor();
    t.strictSame(
      complaints.filter((text) => !/status of 404/.test(text)),
      [],
    );
  });

  t.test('power: sleep in 30 minutes 2, cancel 1, at a time, and why not', async (t) => {
    const service = await serveHere(t, livelyHost(), CONFIG);
    const { page, complaints } = await openLive(t, browser, service.baseUrl);
    const power = card(page, 'Power');
    const dialog = page.getByRole('dialog');
    const pending = async () =>
      ((await (await fetch(`${service.baseUrl}/api/pw`)).json()) as PowerPayload).pending; // Its own service.
    const leftSeconds = async () => ((await pending())?.at ?? Number.NaN) - Date.now() / 1000;
    const hand = new Hand();
    await hand.click(power.getByRole('button', { name: 'Sleep' }));
    await hand.click(dialog.getByRole('button', { name: 'In 30 minutes' }));
    t.equal(hand.clicks, 2);
    await until(() => power.getByRole('timer').innerText(), /^Sleeping at \d\d:\d\d, in (?:30|29) min$/);
    t.match(await pending(), { action: 'sleep' });
    t.ok(Math.abs((await leftSeconds()) - 1800) < 120);
    await hand.click(power.getByRole('button', { name: 'Cancel it' }));
    t.equal(hand.clicks, 3);
    await until(pending, null);
    await power.getByText('Sleep was cancelled.').waitFor();
    await power.getByRole('button', { name: 'Sleep' }).click();
    const atTime = dialog.getByRole('button', { name: 'At this time' });
    t.ok(await atTime.isDisabled(), 'no time yet');
    const later = new Date(Date.now() + 7_200_000);
    const wanted = [later.getHours(), later.getMinutes()].map((part) => String(part).padStart(2, '0'));
    await dialog.getByLabel('Time', { exact: true }).fill(wanted.join(':'));
    await atTime.click();
    await until(pending, (now) => now !== null);
    const left = await leftSeconds();
    t.ok(left > 7000 && left < 7201, `in two hours: ${left} s`);
    const absent = card(page, 'Not available here');
    await until(() => absent.innerText(), /Shut down[\s\S]*enable_shutdown/);
    t.strictSame(complaints, []);
  });

  t.test('processes: the busiest is ended by 3 clicks; the filter is in the address', async (t) => {
    const host = livelyHost();
    const service = await serveHere(t, host, CONFIG);
    const { page, complaints } = await openLive(t, browser, service.baseUrl);
    const processes = card(page, 'Processes');
    const busiest = processes.locator('.rows').first().getByRole('button').filter({ hasNotText: 'systemd' });
    const dialog = page.getByRole('dialog');
    const hand = new Hand();
    await hand.click(busiest.first());
    await hand.click(dialog.getByRole('button', { name: 'End', exact: true }));
    await hand.click(dialog.getByRole('button', { name: 'End', exact: true }));
    await until(async () => host.processes.sent.length, 1);
    t.equal(hand.clicks, 3);
    await processes.getByRole('button', { name: 'Show all' }).click();
    await processes.getByRole('searchbox').fill('user:root');
    await processes.getByRole('columnheader', { name: 'User' }).waitFor();
    await processes.getByRole('button', { name: 'Process ID' }).click();
    await processes.getByRole('button', { name: 'Process ID' }).click();
    const pids = async () => (await processes.locator('tbody td:nth-child(2)').allInnerTexts()).map(Number);
    const isDescending = (list: readonly number[]) =>
      list.length > 2 && list.every((pid, i) => i === 0 || pid < (list[i - 1] ?? 0));
    await until(pids, isDescending);
    await until(async () => page.url(), /\?processes=user%3Aroot&sort=-pid$/);
    await page.reload();
    await until(pids, isDescending);
    t.equal(await processes.getByRole('searchbox').inputValue(), 'user:root');
    await processes.getByRole('button', { name: 'Show fewer' }).click();
    t.equal(new URL(page.url()).search, '');
    t.strictSame(complaints, []);
  });
}
