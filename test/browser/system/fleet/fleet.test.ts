/** The hub's page of all machines in Chromium, and the dashboard of one of them through the hub. */
import '../../../helpers/service/dead-buses.ts';
import t from 'tap';
import { ask } from '../../../helpers/clients/http.ts';
import { startPrefixProxy } from '../../../helpers/clients/prefix-proxy.ts';
import { findFreePort } from '../../../helpers/service/free-port.ts';
import { isDown, isUp, startHub } from '../../../hub/setup.ts';
import {
  auditPage,
  card,
  liveState,
  openLive,
  openPage,
  PHONE,
  skipBrowser,
  startBrowser,
  until,
} from '../../browser.ts';
import { namesOn, startAgent, startFleet } from '../../fleet/rig.ts';

const KEY = 'correct-horse-battery-staple-0123456789';

t.setTimeout(580_000);

if (skipBrowser) t.test('the fleet in Chromium', { skip: skipBrowser }, () => undefined);
else {
  const browser = await startBrowser(t);

  t.test(
    '[I.hub.wake] a machine that is not there is woken by another one, which the page names',
    async (t) => {
      const hosts = { gone: { mac: '02:00:5e:10:00:00', broadcast: '127.0.0.1', port: 9 } };
      const config = { wake: { hosts }, features: { enable_wake: true } };
      const desk = await startAgent(t, 'desk.lan', 0, config);
      const agents = { desk: { url: desk.baseUrl }, gone: { url: 'http://127.0.0.1:1' } };
      const commands = { all: { commands: ['wake.*'], labels: {} } };
      const hub = await startHub(t, agents, { hub: { commands } }, {}, undefined, 10);
      await hub.host('gone', ({ wake_by: by }) => by?.[0] === 'desk');
      const { page } = await openLive(t, browser, `http://127.0.0.1:${hub.port}/`);
      const button = page.getByRole('button', { name: 'Wake gone' });
      t.equal(await button.getAttribute('title'), 'desk can wake it');
      await button.click();
      await until(() => button.innerText(), 'Packets sent');
      await page.goto(`http://127.0.0.1:${hub.port}/hosts/gone/`);
      await page.getByRole('button', { name: 'Wake' }).click();
      await until(() => button.innerText(), 'Packets sent');
      t.ok(hub.log.some((line) => /wake: wake done host=gone .*by=desk/.test(line)));
    },
  );

  t.test('[I.hub.page] machines are shown, sorted, filtered and found again by the address', async (t) => {
    const hub = await startFleet(t);
    const { page, complaints } = await openLive(t, browser, `http://127.0.0.1:${hub.port}/`);
    const order = (wanted: string) =>
      until(
        () => namesOn(page),
        (names) => names.join(' ') === wanted,
      );
    await order('gone desk.lan nas.lan');
    const table = page.getByRole('table', { name: 'Table of machines' });
    const desk = table.getByRole('row').filter({ hasText: 'desk.lan' });
    await until(() => desk.innerText(), /Up[\s\S]*\d+ %[\s\S]*\d+ %[\s\S]*9\d %[\s\S]*\d+ °C/);
    await until(
      () => desk.locator('path').getAttribute('d'),
      (d) => (d?.split('L').length ?? 0) >= 3,
    );
    const gone = table.getByRole('row').filter({ hasText: 'gone' });
    await until(() => gone.innerText(), /Unknown[\s\S]*n\/a[\s\S]*connection refused/);
    await until(() => page.locator('.head').innerText(), /2 up[\s\S]*1 unknown/);
    await until(() => page.title(), '1 down · hostwire');

    await page.getByRole('button', { name: 'Name' }).click();
    await order('desk.lan gone nas.lan');
    await page.getByRole('button', { name: 'Name' }).click();
    await order('nas.lan gone desk.lan');
    t.equal(await page.getByRole('columnheader', { name: 'Name' }).getAttribute('aria-sort'), 'descending');
    await page.getByRole('button', { name: 'State' }).click();
    await order('gone desk.lan nas.lan');
    await page.getByLabel('Label').selectOption('site: berlin');
    await order('desk.lan nas.lan');
    await page.getByText('2 of 3 machines').waitFor();
    await page.getByLabel('Search').fill('NAS');
    await order('nas.lan');
    await page.getByRole('radio', { name: 'Tiles' }).check();
    await page.reload();
    await liveState(page).waitFor();
    await order('nas.lan');
    t.equal(await page.getByRole('radio', { name: 'Tiles' }).isChecked(), true);
    await page.getByLabel('Search').fill('nothing of the kind');
    await page.getByText('No matching machines.').waitFor();
    await page.getByLabel('Search').fill('');
    await page.getByRole('button', { name: 'Remove the filter site: berlin' }).click();
    await page.getByRole('combobox', { name: 'State' }).selectOption('Unknown');
    await order('gone');
    await until(() => page.locator('.tile').innerText(), /gone[\s\S]*Unknown[\s\S]*connection refused/);
    t.strictSame(complaints, []);
  });

  t.test('[I.hub.page] an event is muted for its machine, or its rule for all, with a reason', async (t) => {
    const watch = { defaults: false, rules: { loaded: { series: 'cpu.load', above: 0, for_seconds: 1 } } };
    const desk = await startAgent(t, 'desk.lan', 0, { history: { minutes: 60 }, watch });
    const hub = await startHub(t, { desk: { url: desk.baseUrl } });
    const phone = { ...PHONE, bypassCSP: true };
    const { page, complaints } = await openLive(t, browser, `http://127.0.0.1:${hub.port}/`, phone);
    const events = page.getByRole('region', { name: '1 open event' });
    for (const what of ['All of desk.lan', 'loaded on all machines']) {
      await events.getByRole('button', { name: /^Mute: desk\.lan, / }).click();
      await events.getByRole('combobox', { name: 'What' }).selectOption(what);
      await events.getByRole('textbox', { name: 'Reason' }).fill('a long build');
      t.strictSame(await auditPage(page), [], 'axe-core, with the form');
      await events.getByRole('button', { name: 'Mute', exact: true }).click();
      await events.getByText(/Muted until .*: a long build\. It is not sent/).waitFor();
      await until(() => page.title(), 'Machines · hostwire');
      await events.getByRole('button', { name: 'Unmute' }).click();
      await until(() => page.title(), '1 alarm · hostwire');
    }
    t.strictSame(complaints, []);
  });

  t.test('[I.hub.page] a machine opens its dashboard through the hub, also below a path', async (t) => {
    const hub = await startFleet(t);
    for (const prefix of ['', '/all/machines']) {
      const proxy = await startPrefixProxy(t, hub.port, prefix);
      const { page, complaints, requested } = await openPage(t, browser);
      await page.goto(`${proxy.baseUrl}/?view=table`);
      await page.getByRole('link', { name: 'desk.lan' }).click();
      await card(page, 'Processor').waitFor();
      t.equal(page.url(), `${proxy.baseUrl}/hosts/desk/`);
      await liveState(page).waitFor();
      await page.getByRole('heading', { name: 'desk.lan' }).waitFor();
      await until(() => page.locator('.head').innerText(), /Debian GNU\/Linux 12/);
      const paths = requested.map((url) => new URL(url).pathname.slice(prefix.length));
      for (const path of [
        '/api/fleet/stream',
        '/api/hosts',
        '/api/hosts/desk/stream',
        '/api/hosts/desk/system',
      ])
        t.ok(paths.includes(path), path);
      await page.getByRole('link', { name: 'All machines' }).click();
      await page.getByRole('heading', { name: 'Machines' }).waitFor();
      t.equal(page.url(), `${proxy.baseUrl}/`);
      t.strictSame(
        requested.filter((url) => !url.startsWith(`${proxy.baseUrl}/`)),
        [],
        'no request outside the path',
      );
      t.strictSame(proxy.strays, []);
      t.strictSame(complaints, []);
    }
  });

  t.test('[I.hub.page] one key for the pages of the hub', async (t) => {
    const hub = await startFleet(t, { auth: { enabled: true, api_key: KEY } });
    const { page } = await openPage(t, browser);
    await page.goto(`http://127.0.0.1:${hub.port}/?view=table`);
    await page.getByLabel('Key', { exact: true }).fill(KEY);
    await page.getByRole('button', { name: 'Connect' }).click();
    await page.getByRole('link', { name: 'nas.lan' }).click();
    await liveState(page).waitFor();
    await card(page, 'Memory').waitFor();
    t.strictSame(
      await page.evaluate('[Object.keys(sessionStorage), localStorage.length]'),
      [['hostwire-key /'], 0],
      'kept in the tab, and not asked for again',
    );
  });

  t.test(
    '[I.hub.page] controls, processes and the history of a machine, by the rules of the hub',
    async (t) => {
      const features = { enable_media: true, enable_processes: true };
      const desk = await startAgent(t, 'desk.lan', 0, { features, history: { minutes: 60 } });
      const agents = { desk: { url: desk.baseUrl } };
      const hub = await startHub(t, agents);
      await hub.host('desk', isUp);
      const { page } = await openPage(t, browser);
      await page.goto(`http://127.0.0.1:${hub.port}/hosts/desk/`);
      await page.getByRole('radio', { name: '1 h' }).waitFor();
      await card(page, 'Processes').waitFor();
      const media = card(page, 'Media');
      await media.getByText('An Ending (Ascent)').waitFor();
      t.equal(await media.locator('button:not(.fold)').count(), 0, 'no rule: no control');
      hub.reconfigure(agents, { hub: { commands: { all: { commands: ['media.*'], labels: {} } } } });
      await page.reload();
      await media.getByRole('button', { name: 'Pause' }).click();
      await media.getByRole('button', { name: 'Play', exact: true }).waitFor();
      // The page asks every 60 s what it may do.
      hub.reconfigure(agents, {});
      await media.getByRole('button', { name: 'Play', exact: true }).click();
      await media.getByText('hub.commands does not allow this client to do this').waitFor();
    },
  );

  t.test('[I.hub.page] play and pause in the list, where the client may', async (t) => {
    const desk = await startAgent(t, 'desk.lan');
    const agents = { desk: { url: desk.baseUrl } };
    const hub = await startHub(t, agents, {
      hub: { commands: { all: { commands: ['media.*'], labels: {} } } },
    });
    await hub.host('desk', isUp);
    const { page, complaints } = await openLive(t, browser, `http://127.0.0.1:${hub.port}/?view=table`);
    await page.getByRole('button', { name: 'Pause on desk.lan' }).click();
    await page.locator('td.media').getByText('Paused: ').waitFor();
    await page.getByRole('button', { name: 'Play on desk.lan' }).waitFor();
    await page.setViewportSize({ width: 360, height: 740 });
    const row = page.locator('tr[data-item]');
    await row.getByRole('button', { name: 'Play on desk.lan' }).click();
    await row.getByRole('button', { name: 'Pause on desk.lan' }).waitFor();
    t.equal((await row.boundingBox())?.height, 48, 'on a phone: in its one line');
    await page.getByRole('radio', { name: 'Tiles' }).check();
    await page.getByRole('button', { name: 'Pause on desk.lan' }).click({ position: { x: -8, y: 30 } });
    await page.locator('.tile').getByText('Paused: ').waitFor();
    t.equal(new URL(page.url()).pathname, '/', 'and not the link of the tile');
    await page.getByRole('radio', { name: 'Table' }).check();
    await page.setViewportSize({ width: 1440, height: 900 });
    t.strictSame(complaints, []);
    hub.reconfigure(agents, { hub: { commands: {} } });
    await page.reload();
    await page.locator('td.media').getByText('Paused: ').waitFor();
    t.equal(await page.locator('td.media button').count(), 0, 'not allowed: no button');
  });

  t.test('[I.hub.page] the current track, of the machines in view alone', async (t) => {
    const desk = await startAgent(t, 'desk.lan');
    const mute = await startAgent(t, 'mute.lan', 0, { features: { enable_media: false } });
    const hub = await startHub(t, { desk: { url: desk.baseUrl }, mute: { url: mute.baseUrl } });
    await hub.host('desk', isUp);
    await hub.host('mute', isUp);
    const { page, requested } = await openPage(t, browser);
    await page.goto(`http://127.0.0.1:${hub.port}/?view=table`);
    const playing = page.locator('td.media');
    await until(
      () => playing.allInnerTexts(),
      ([first = '', second]) => first.includes(' — ') && !first.startsWith('Paused') && second === '',
    );
    const asked = (id: string) => requested.filter((url) => url.includes(`/api/hosts/${id}/media/status`));
    await until(
      async () => asked('desk').length,
      (count) => count >= 2,
    );
    t.equal(asked('mute').length, 1, 'one whose media are off is not asked again soon');
    await ask(desk.port, '/api/media/control', { method: 'POST', body: JSON.stringify({ action: 'pause' }) });
    await until(
      () => playing.first().innerText(),
      (text) => text.startsWith('Paused: '),
    );
    await page.getByRole('radio', { name: 'Tiles' }).check();
    await page.locator('.tile').getByText('Paused: ').waitFor();
    await desk.stop();
    await hub.host('desk', isDown);
    await until(() => page.locator('.tile').getByText('Paused: ').count(), 0);
  });

  t.test('[I.hub.page] a machine that goes and comes back: its row, and its dashboard', async (t) => {
    const port = await findFreePort();
    const first = await startAgent(t, 'desk.lan', port);
    const hub = await startHub(t, { desk: { url: first.baseUrl } });
    await hub.host('desk', isUp);
    const address = `http://127.0.0.1:${hub.port}`;
    const all = await openPage(t, browser);
    const one = await openPage(t, browser);
    t.teardown(() => Promise.all([all.page.context().close(), one.page.context().close()]));
    await all.page.goto(`${address}/?view=tiles`);
    await one.page.goto(`${address}/hosts/desk/`);
    const tile = all.page.locator('.tile');
    await tile.getByText('Up', { exact: true }).waitFor();
    await card(one.page, 'Processor').waitFor();
    await liveState(one.page).waitFor();
    await first.stop();
    await hub.host('desk', isDown);
    await tile.getByText('Down', { exact: true }).waitFor();
    await one.page.locator('.state.lost').waitFor();
    t.pass('the stream of the hub is open, and its silence is shown');
    const away = one.page.getByRole('region', { name: 'This machine is not there' });
    const words = /Down since \d\d:\d\d:\d\d[\s\S]*its service has stopped[\s\S]*Values as of \d\d:\d\d:\d\d/;
    await until(() => away.innerText(), words);
    const late = await openPage(t, browser);
    await late.page.goto(`${address}/hosts/desk/`);
    const lateAway = late.page.getByRole('region', { name: 'This machine is not there' });
    await until(() => lateAway.innerText(), /Values as of[\s\S]*Processor\s+\d+ %[\s\S]*\/srv\/media\s+91 %/);
    await late.page.context().close();
    await startAgent(t, 'desk.lan', port);
    await tile.getByText('Up', { exact: true }).waitFor();
    await liveState(one.page).waitFor();
    await until(() => away.count(), 0);
    const unknown = await openPage(t, browser);
    t.teardown(() => unknown.page.context().close());
    await unknown.page.clock.install();
    await unknown.page.goto(`${address}/hosts/nobody/`);
    await unknown.page.getByText('This hub has no machine of that name.').waitFor();
    t.equal(await unknown.page.locator('.state.missing').innerText(), 'Unknown machine');
    const asked = unknown.requested.length;
    await unknown.page.clock.runFor(600_000);
    t.equal(unknown.requested.length, asked, 'and it is asked for once');
  });

  t.test('[I.hub.page] the order is held while the focus or the pointer is on a machine', async (t) => {
    const hub = await startFleet(t);
    const { page } = await openPage(t, browser);
    await page.goto(`http://127.0.0.1:${hub.port}/?view=table&state=up`);
    const link = page.getByRole('link', { name: 'nas.lan' });
    await link.focus();
    hub.reconfigure({ desk: { url: 'http://127.0.0.1:1' }, nas: { url: 'http://127.0.0.1:1' } });
    await page.getByText('0 up').waitFor();
    t.equal(
      await link.evaluate('document.activeElement?.textContent'),
      'nas.lan',
      'it stays while it exists',
    );
    await page.getByLabel('Search').focus();
    await page.getByText('No matching machines.').waitFor();
  });
}
