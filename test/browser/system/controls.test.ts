/** The commands of the dashboard, end to end: a player, the recording power backend, a process. */
import '../../helpers/service/dead-buses.ts';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import type { PowerPayload } from '#src/wire/power.js';
import { FakePlayer, metadata } from '../../helpers/dbus/player.ts';
import { startSessionBus } from '../../helpers/dbus/session-bus.ts';
import { variant } from '../../helpers/dbus/wire.ts';
import { livelyHost } from '../../helpers/fakes/lively-host.ts';
import { emptyFolder } from '../../helpers/scope.ts';
import { MediaService } from '../../helpers/service/media.ts';
import { type ConfigPart, serveHere, serveProgram } from '../../helpers/service/service.ts';
import { card, openLive, skipBrowser, startBrowser, until } from '../browser.ts';
import { coverPicture } from '../cover-picture.ts';

const QUICK: ConfigPart = { stats: { stream_interval_seconds: 1 } };
const noBus = !existsSync('/usr/bin/dbus-daemon') && 'apt-get install dbus';

t.setTimeout(280_000);

const powerOf = async (baseUrl: string) => (await (await fetch(`${baseUrl}/api/pw`)).json()) as PowerPayload;

if (skipBrowser) t.test('controls in Chromium', { skip: skipBrowser }, () => undefined);
else {
  const browser = await startBrowser(t);

  t.test('media: a player on a bus is shown and controlled by the buttons', { skip: noBus }, async (t) => {
    const folder = emptyFolder(t, 'art');
    const art = path.join(folder, 'cover.png');
    writeFileSync(art, coverPicture());
    const bus = await startSessionBus();
    t.teardown(() => bus.stop());
    const about = (title: string, artUrl: string) =>
      metadata({
        'mpris:trackid': variant('o', '/track/1'),
        'xesam:title': variant('s', title),
        'xesam:artist': variant('as', ['Ärzte & <b>Co</b>']),
        'mpris:length': variant('x', 240_000_000),
        'mpris:artUrl': variant('s', artUrl),
      });
    const player = await FakePlayer.start(bus.address, 'good', {
      PlaybackStatus: variant('s', 'Playing'),
      Position: variant('x', 61_000_000),
      Rate: variant('d', 1),
      CanSeek: variant('b', true),
      CanControl: variant('b', true),
      Metadata: about('Größe 第二 🎵', pathToFileURL(art).href),
    });
    t.teardown(() => player.close());
    const service = await MediaService.start(bus.env, QUICK);
    t.teardown(() => service.stop());
    const { page, complaints } = await openLive(t, browser, service.process.baseUrl);
    const media = card(page, 'Media');
    await media.getByText('Größe 第二 🎵').waitFor();
    t.match(await media.innerText(), /Ärzte & <b>Co<\/b>/, 'text stays text');
    await media.getByRole('img', { name: 'Cover of Größe 第二 🎵' }).waitFor();
    const size = () => page.evaluate<number>('document.querySelector(".art img")?.naturalWidth');
    await until(size, 144);
    t.pass('the picture is there');
    await page.evaluate('document.querySelector(".art img").id = "first"');
    const polled = () => page.waitForResponse(/\/media\/status/);
    await page.route('**/api/media/status**', (route) => route.fulfill({ status: 503 }), { times: 1 });
    t.equal((await polled()).status(), 503);
    await polled();
    t.ok(await media.locator('#first').isVisible(), 'a poll that fails does not take it away');
    const at = await media.getByRole('slider', { name: 'Position' }).getAttribute('aria-valuetext');
    t.match(at, /^1:0\d of 4:00$/);
    for (const [button, member] of [
      ['Next track', 'Next'],
      ['Previous track', 'Previous'],
      ['Pause', 'Pause'],
    ] as const) {
      await media.getByRole('button', { name: button }).click();
      await until(
        async () => player.calls.map((call) => call.member),
        (calls) => calls.includes(member),
      );
      t.pass(`${button} reached the player`);
    }
    player.change({ PlaybackStatus: variant('s', 'Paused') });
    await media.getByRole('button', { name: 'Play', exact: true }).click();
    await until(async () => player.calls.at(-1)?.member, 'Play');
    await media.getByRole('slider').focus();
    await page.keyboard.press('End');
    await until(async () => player.calls.at(-1)?.member, 'SetPosition');
    t.match(player.calls.at(-1)?.body[1], 240_000_000, 'and the keyboard seeks');
    const embedded = Buffer.concat([coverPicture(), Buffer.alloc(30_000)]).toString('base64');
    player.change({ Metadata: about('Embedded', `data:image/png;base64,${embedded}`) });
    await media.getByRole('img', { name: 'Cover of Embedded' }).waitFor();
    await until(size, 144);
    t.pass('a cover in its own address is there');
    player.change({ Metadata: about('Elsewhere', 'https://example.org/cover.png') });
    await media.getByText('Elsewhere').waitFor();
    t.equal(await media.locator('img').count(), 0, "no picture from a stranger's site");
    t.strictSame(
      complaints.filter((text) => !/status of 503/.test(text)),
      [],
    );
  });

  t.test(
    'power: confirmed twice, counted down, cancelled; and carried out when it is not cancelled',
    async (t) => {
      const features = { enable_sleep: true, enable_shutdown: true };
      const service = await serveHere(t, livelyHost(), { ...QUICK, features });
      const { page, complaints } = await openLive(t, browser, service.baseUrl);
      const power = card(page, 'Power');
      const shutDown = power.getByRole('button', { name: 'Shut down' });
      const dialog = page.getByRole('dialog');
      await power.getByText('Test mode: actions are recorded').waitFor();
      t.notMatch(await power.innerText(), /was recorded/, 'nothing yet');
      await shutDown.click();
      t.match(await dialog.innerText(), /Shut down workbench\?[\s\S]*are recorded, not carried out/);
      await page.keyboard.press('Escape');
      t.equal(await dialog.count(), 0, 'Escape leaves it');
      // The page gives the focus back in a later turn than it takes the dialog away.
      await page.waitForFunction("document.activeElement?.textContent === 'Shut down'");
      t.pass('and the focus is back');
      t.equal((await powerOf(service.baseUrl)).pending, null, 'nothing was asked');
      // Before the countdown, in which a busy machine may not open a page. Ten seconds may be too short there to cancel it.
      const { page: other } = await openLive(t, browser, service.baseUrl);
      await page.route('**/api/pw/shutdown?delay=10', async (route) =>
        route.continue({ url: route.request().url().replace('delay=10', 'delay=90') }),
      );
      await shutDown.click();
      await dialog.getByRole('button', { name: 'Shut down' }).click();
      await power.getByRole('timer').waitFor();
      t.match(await power.innerText(), /Shutting down in [4-9]\d s/);
      const focused = () => page.evaluate<string>('document.activeElement.textContent');
      await until(focused, (text) => text === 'Cancel it');
      t.pass('the way back has the focus');
      t.equal((await powerOf(service.baseUrl)).pending?.action, 'shutdown');
      t.ok(await power.getByRole('button', { name: 'Sleep' }).isDisabled(), 'no second one meanwhile');
      await card(other, 'Power').getByRole('button', { name: 'Cancel it' }).click();
      await until(
        () => powerOf(service.baseUrl),
        ({ pending }) => pending === null,
      );
      t.pass('any page can cancel it');
      await power.getByRole('timer').waitFor({ state: 'detached', timeout: 120_000 });
      await power.getByRole('button', { name: 'Lock' }).click();
      await until(
        () => powerOf(service.baseUrl),
        ({ recorded }) => recorded.some(({ action }) => action === 'lock'),
      );
      await power.getByRole('button', { name: 'Sleep' }).click();
      await dialog.getByRole('button', { name: 'Sleep' }).click();
      const { recorded } = await until(
        () => powerOf(service.baseUrl),
        ({ recorded }) => recorded.some(({ action }) => action === 'sleep'),
      );
      t.notOk(
        recorded.some(({ action }) => action === 'shutdown'),
        'the cancelled action was not carried out',
      );
      await power.getByText('actions are recorded, not carried out').waitFor({ timeout: 120_000 });
      t.strictSame(complaints, []);
    },
  );

  t.test('processes: found, sorted, ended; another confirmation before force', async (t) => {
    const name = `hw-${process.pid}`;
    const folder = emptyFolder(t, 'end');
    // A unique name on this machine; one of the two ignores the signal.
    const script = path.join(folder, name);
    writeFileSync(script, '#!/bin/sh\ntrap "" TERM\nwhile :; do sleep 1; done\n', { mode: 0o755 });
    const children: ChildProcess[] = [];
    t.teardown(() => children.forEach((child) => child.kill('SIGKILL')));
    const ended = (child: ChildProcess) =>
      new Promise<string | null>((resolve) => child.once('exit', (_, signal) => resolve(signal)));
    const stubborn = spawn(script, { stdio: 'ignore' });
    children.push(stubborn);
    const service = await serveProgram(t, {
      config: { ...QUICK, features: { enable_process_control: true } },
    });
    const { page, complaints } = await openLive(t, browser, service.baseUrl);
    const processes = card(page, 'Processes');
    t.equal(await processes.getByRole('table').count(), 0, 'no table before it is asked for');
    await processes.getByRole('button', { name: 'Show all' }).click();
    const rows = processes.locator('tbody tr');
    await until(
      () => rows.count(),
      (count) => count > 3,
    );
    await processes.getByRole('button', { name: 'Name' }).click();
    const names = () => rows.locator('th').allInnerTexts();
    await until(
      names,
      (texts) => JSON.stringify(texts) === JSON.stringify(texts.toSorted((a, b) => (a < b ? -1 : 1))),
    );
    t.equal(
      await processes.getByRole('columnheader', { name: 'Name' }).getAttribute('aria-sort'),
      'ascending',
    );
    await processes.getByRole('searchbox').fill(name);
    await until(names, (texts) => texts.length === 1 && texts[0] === name);
    await processes.getByLabel('Group by name').uncheck();
    await processes.getByRole('button', { name: `End ${name} (${stubborn.pid})` }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'End', exact: true }).click();
    await dialog.getByRole('button', { name: 'Force quit' }).waitFor();
    t.equal(stubborn.exitCode, null, 'it did not listen');
    const death = ended(stubborn);
    await dialog.getByRole('button', { name: 'Force quit' }).click();
    t.equal(await death, 'SIGKILL');
    await until(() => dialog.count(), 0);
    await processes.getByText('No matching processes.').waitFor();
    t.strictSame(
      complaints.filter((text) => !/status of 500/.test(text)),
      [],
    );
  });
}
