/** Commands of the dashboard. */
import '../../../helpers/service/dead-buses.ts';
import t from 'tap';
import type { PowerPayload } from '#src/wire/power.js';
import { livelyHost } from '../../../helpers/fakes/lively-host.ts';
import { playerOf, snapshotOf } from '../../../helpers/fakes/media.ts';
import { serveHere } from '../../../helpers/service/service.ts';
import { card, openLive, skipBrowser, startBrowser, until } from '../../browser.ts';

t.setTimeout(280_000);

if (skipBrowser) t.test('commands in Chromium', { skip: skipBrowser }, () => undefined);
else {
  const browser = await startBrowser(t);
  const features = { enable_sleep: true, enable_process_control: true };
  const CONFIG = { stats: { stream_interval_seconds: 1 }, features } as const;

  t.test('media: pause, volume, mute, another player', async (t) => {
    const host = livelyHost();
    const service = await serveHere(t, host, CONFIG);
    const { page, complaints } = await openLive(t, browser, service.baseUrl);
    const media = card(page, 'Media');
    const sent = () => host.media.controls.map(({ verb, value }) => `${verb} ${value ?? ''}`.trim());
    await media.getByRole('button', { name: 'Pause' }).click();
    await until(async () => sent().at(-1), 'pause');
    const volume = media.getByRole('slider', { name: 'Volume' });
    const box = await volume.boundingBox();
    await volume.click({ position: { x: (box?.width ?? 0) / 4, y: (box?.height ?? 0) / 2 } });
    await until(async () => sent().at(-1), /^set_volume 0\.2\d?$/);
    await until(() => volume.getAttribute('aria-valuetext'), /^2\d %$/);
    await media.getByRole('button', { name: 'Mute', exact: true }).click();
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

  t.test('power: sleep in 30 minutes, cancel, at a time, and why not', async (t) => {
    const service = await serveHere(t, livelyHost(), CONFIG);
    const { page, complaints } = await openLive(t, browser, service.baseUrl);
    const power = card(page, 'Power');
    const dialog = page.getByRole('dialog');
    const pending = async () =>
      ((await (await fetch(`${service.baseUrl}/api/pw`)).json()) as PowerPayload).pending; // Its own service.
    const leftSeconds = async () => ((await pending())?.at ?? Number.NaN) - Date.now() / 1000;
    await power.getByRole('button', { name: 'Sleep' }).click();
    await dialog.getByRole('button', { name: 'In 30 minutes' }).click();
    await until(() => power.getByRole('timer').innerText(), /^Sleeping at \d\d:\d\d, in (?:30|29) min$/);
    t.match(await pending(), { action: 'sleep' });
    t.ok(Math.abs((await leftSeconds()) - 1800) < 120);
    await power.getByRole('button', { name: 'Cancel it' }).click();
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

  t.test('processes: the busiest is ended; the filter is in the address', async (t) => {
    const host = livelyHost();
    const service = await serveHere(t, host, CONFIG);
    const { page, complaints } = await openLive(t, browser, service.baseUrl);
    const processes = card(page, 'Processes');
    const busiest = processes.locator('.rows').first().getByRole('button').filter({ hasNotText: 'systemd' });
    const dialog = page.getByRole('dialog');
    await busiest.first().click();
    await dialog.getByRole('button', { name: 'End', exact: true }).click();
    await dialog.getByRole('button', { name: 'End', exact: true }).click();
    await until(async () => host.processes.sent.length, 1);
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
