/** The history through the client, from a service whose history is known. */
import '../helpers/service/dead-buses.ts';
import t, { type Test } from 'tap';
import { WebSocket } from 'ws';
import { connect, history, type MachineEvent, processesAt } from '#src/client/client.js';
import { FakeClock } from '../helpers/fakes/clock.ts';
import { FAKE_EVENT, FAKE_MACHINE_EVENT, FAKE_NOW, FakeHistory } from '../helpers/fakes/history.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { serveHere } from '../helpers/service/service.ts';

const KEY = 'k'.repeat(40);
const MOUNT = 'disk.used_percent//mnt/a,b';

async function start(t: Test) {
  const kept = new FakeHistory();
  const config = { auth: { enabled: true, api_key: KEY } };
  const started = await serveHere(t, fixtureHost(), config, { history: kept, clock: new FakeClock() });
  return { kept, service: { url: started.baseUrl, key: KEY } };
}

t.test('history and processesAt are single requests', async (t) => {
  const { kept, service } = await start(t);
  const all = { since: FAKE_NOW - 60, until: FAKE_NOW, step: 1 };
  const { series, step, count } = await history({ ...service, series: ['cpu.load', MOUNT], ...all });
  t.strictSame(Object.keys(series), ['cpu.load', MOUNT]);
  t.match({ step, count, mean: series['cpu.load']?.mean.length }, { step: 1, count: 60, mean: 60 });
  t.strictSame(kept.asked, [{ series: ['cpu.load', MOUNT], ...all }]);
  t.ok((await history(service)).available?.includes('cpu.load'), 'by default what is usual');
  for (const names of [[MOUNT], ['network.*']])
    t.strictSame((await history({ ...service, series: names })).unknown, [], `${names} is one name`);
  t.match(await processesAt(FAKE_NOW - 5, service), { at: FAKE_NOW - 5, cpu: [{ name: 'burn' }] });
  await t.rejects(history({ ...service, key: 'x'.repeat(40) }), { code: 'unauthorized' });
  await t.rejects(history({ ...service, step: 0 }), { code: 'invalid_value', status: 400 });
  kept.isOn = false;
  await t.rejects(history(service), { code: 'feature_disabled', status: 403 });
  await t.rejects(processesAt(-60, service), { code: 'feature_disabled' });
});

t.test('a socket has both, and the events', async (t) => {
  const { kept, service } = await start(t);
  const socket = connect({ ...service, WebSocket });
  t.teardown(() => socket.close());
  const found = await socket.history({ series: [MOUNT], since: FAKE_NOW - 60, timeoutMs: 60_000 });
  t.strictSame(Object.keys(found.series), [MOUNT]);
  t.match(kept.asked.at(-1), { series: [MOUNT], since: FAKE_NOW - 60 });
  t.match(await socket.processesAt(FAKE_NOW - 5), { at: FAKE_NOW - 5, taken_at: FAKE_NOW - 8 });
  const happened = new Promise<MachineEvent>((resolve) => socket.on('event', resolve));
  t.match(await socket.subscribe(['events']), { topics: ['events'] });
  kept.notify(FAKE_EVENT);
  t.match(await happened, FAKE_MACHINE_EVENT);
  await t.rejects(socket.get(['events']), { code: 'INVALID_DATA' });
  await t.rejects(socket.history({ step: 0 }), { code: 'INVALID_DATA' });
  kept.isOn = false;
  await t.rejects(socket.history(), { code: 'FEATURE_DISABLED' });
});
