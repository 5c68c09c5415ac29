/** The history and the covers of a machine behind real brokers: what the hub answers is what the machine itself answers. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import type { Broker } from '../../../exporters/mqtt/broker.ts';
import { ask, type RawAnswer, valuesOf } from '../../../helpers/clients/http.ts';
import { FAKE_NOW, FakeHistory } from '../../../helpers/fakes/history.ts';
import { playerOf, snapshotOf } from '../../../helpers/fakes/media.ts';
import { isUp } from '../../../hub/setup.ts';
import { HubClient } from '../../../hub/socket-setup.ts';
import { hubPart, startAgent, testBrokers } from '../../reporter/rig.ts';
import { startBrokerHub } from '../setup.ts';

t.setTimeout(280_000);

const HEADERS = ['content-type', 'etag', 'cache-control', 'content-security-policy', 'x-error-code'];

/** All that a client sees of an answer but its date. A 403 of the service has no body; that of the hub has the reason. */
const shown = (answer: RawAnswer) => ({
  status: answer.status,
  headers: HEADERS.map((name) => [name, ...valuesOf(answer, name)]).filter(
    ([name]) => answer.status < 400 || name === 'x-error-code',
  ),
  body: answer.status === 403 ? '' : answer.body.toString('latin1'),
});

async function rig(t: Test, broker: Broker) {
  const history = new FakeHistory();
  const features = { enable_media: true, enable_processes: true };
  const { service, media } = await startAgent(t, broker, { features }, { history });
  const hub = await startBrokerHub(t, broker.url);
  await hub.host('pc', isUp);
  /** Returns the answers of the machine itself and of the hub. */
  const both = async (target: string, headers: Readonly<Record<string, string>> = {}) => ({
    own: await ask(service.port, `/api${target}`, { headers }),
    through: await ask(hub.port, `/api/hosts/pc${target}`, { headers }),
  });
  return { history, service, media, hub, both };
}

const sinceFor = (slots: number) => `since=${FAKE_NOW - slots}&until=${FAKE_NOW}&step=1`;

testBrokers(t, '[I.hub.mqtt.history] the past, byte by byte as the machine has it', async (t, broker) => {
  const { history, service, hub, both } = await rig(t, broker);
  for (const isOn of [true, false]) {
    history.isOn = isOn;
    for (const target of [
      '/history',
      '/history?series=cpu.load,network.*&since=-600',
      '/history?series=disk.used_percent%2F%2Fmnt%2Fa%2Cb&series=x&since=-60&step=10',
      `/history?series=memory.used_percent&${sinceFor(300)}`,
      '/history?series=%2C&since=x',
      '/history?since=-10&until=-20',
      '/history?step=0',
      '/history?step=1&step=2',
      '/history?since=-1e9&step=1',
      '/history?since=-100000000&step=1',
      `/history/processes?at=${FAKE_NOW - 30}`,
      '/history/processes',
      '/history/processes?at=-1e300',
    ]) {
      const { own, through } = await both(target);
      t.strictSame(shown(through), shown(own), `${target} ${isOn}`);
    }
  }
  history.isOn = true;
  const [tag = ''] = valuesOf(await ask(service.port, '/api/history'), 'etag');
  const { own, through } = await both('/history', { 'If-None-Match': tag });
  t.equal(own.status, 304);
  t.strictSame(shown(through), shown(own), 'a known version is not sent again');
  const client = await HubClient.open(t, hub);
  const told = await client.ask('history', { host: 'pc', data: { series: ['cpu.load'], since: -60 } });
  t.match(told, { type: 'history', host: 'pc', data: { series: { 'cpu.load': { unit: '%' } } } });
  const uses = await client.ask('process_history', { host: 'pc', data: { at: FAKE_NOW } });
  t.match(uses, { type: 'process_history', data: { taken_at: FAKE_NOW - 3 } });
});

testBrokers(t, '[I.hub.mqtt.history] an answer of more than 512 KiB is refused', async (t, broker) => {
  const { history, both } = await rig(t, broker);
  history.maxSlots = 100_000;
  // 10 bytes each.
  history.valueAt = () => 1_000_000;
  const lengthOf = async (slots: number) => {
    const { own, through } = await both(`/history?series=cpu.load&${sinceFor(slots)}`);
    return { own: own.body.length, through };
  };
  const fits = await lengthOf(52_000);
  t.ok(fits.own > 515_000 && fits.own <= 512 * 1024, `${fits.own} bytes`);
  t.equal(fits.through.status, 200);
  t.equal(fits.through.body.length, fits.own);
  const tooLong = await lengthOf(53_000);
  t.ok(tooLong.own > 512 * 1024, `${tooLong.own} bytes`);
  t.equal(tooLong.through.status, 413);
  t.match(tooLong.through.body.toString(), /"code":"payload_too_large"/);
});

testBrokers(t, '[I.hub.mqtt.art] covers, as long as the broker takes them', async (t, broker) => {
  const { media, both, hub, service } = await rig(t, broker);
  const cover = (bytes: number, head = '\x89PNG\r\n\x1a\n') => {
    const file = path.join(broker.folder, `cover-${bytes}-${head.length}`);
    writeFileSync(
      file,
      Buffer.concat([Buffer.from(head, 'latin1'), Buffer.alloc(bytes - head.length, 0xe4)]),
    );
    const player = { title: `${bytes} bytes`, artUrl: `file://${file}` };
    media.change(snapshotOf(playerOf('mpv', { playback: 'playing', ...player })));
  };
  const same = async (target: string, status: number, text = target) => {
    const { own, through } = await both(target);
    t.equal(own.status, status, text);
    if (status === 200) t.ok(own.body.equals(through.body), `${text}: the same bytes`);
    t.strictSame(shown(through), shown(own), text);
  };
  await same('/media/art', 404, 'no picture');
  cover(5000);
  await same('/media/art', 200, 'a small one');
  await same('/media/art?player=mpv', 200);
  await same('/media/art?player=nobody', 404);
  await same('/media/art?player=', 400);
  cover(100, 'GIF8');
  await same('/media/art', 404, 'no picture by its first bytes');
  // 1,016 KiB of base64, without the type beside it.
  cover(780_000);
  await same('/media/art', 200, 'the greatest that fits');
  cover(781_000);
  const { own, through } = await both('/media/art');
  t.equal(own.status, 200);
  t.match(shown(through), { status: 413, body: /payload_too_large/ });
  t.notMatch(service.stderr() + hub.log.join('\n'), /lost connection|refuses/, 'both are still connected');
  service.reconfigure({ host: { id: 'pc' }, mqtt: hubPart(broker), features: { enable_media: false } });
  await same('/media/art', 403, 'switched off');
});
