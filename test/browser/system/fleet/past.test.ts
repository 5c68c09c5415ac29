/** The past in the dashboard of a machine behind a broker. */
import '../../../helpers/service/dead-buses.ts';
import t from 'tap';
import { NO_BROKER, startBroker } from '../../../exporters/mqtt/broker.ts';
import { serveHere } from '../../../helpers/service/service.ts';
import { machinePart, startBrokerHub } from '../../../hub/broker/setup.ts';
import { isUp } from '../../../hub/setup.ts';
import { card, openLive, skipBrowser, startBrowser } from '../../browser.ts';
import { isFilled, KnownPast, rangeSwitch } from '../../dashboard/past-rig.ts';
import { namedHost } from '../../fleet/rig.ts';

t.setTimeout(280_000);

const skip = skipBrowser || NO_BROKER;
if (skip) t.test('the past through a hub in Chromium', { skip }, () => undefined);
else {
  const browser = await startBrowser(t);

  t.test('[I.hub.page-past] the dashboard of a machine behind a broker shows its past', async (t) => {
    const broker = await startBroker(t);
    const past = new KnownPast();
    past.events = [
      {
        at: Date.now() / 1000 - 60,
        rule: 'busy',
        state: 'begin',
        series: 'cpu.load',
        value: 97,
        text: 'It is busy.',
      },
    ];
    await serveHere(
      t,
      namedHost('desk.lan'),
      { host: { id: 'desk' }, mqtt: machinePart(broker), stats: { stream_interval_seconds: 1 } },
      { history: past },
    );
    const hub = await startBrokerHub(t, broker.url);
    await hub.host('desk', isUp);
    const { page, complaints } = await openLive(t, browser, `http://127.0.0.1:${hub.port}/hosts/desk/`);
    await rangeSwitch(page).waitFor();
    t.ok(await isFilled(page), 'what was before the page');
    await card(page, 'Events').getByText('It is busy.').first().waitFor();
    t.ok(past.asked.length > 0, 'the machine was asked');
    t.strictSame(complaints, []);
  });
}
