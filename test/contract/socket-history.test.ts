/** The history over a socket: the ops `history` and `process_history`, and the topic `events`. */
import '../helpers/service/dead-buses.ts';
import t, { type Test } from 'tap';
import { ask, jsonOf } from '../helpers/clients/http.ts';
import { SocketClient } from '../helpers/clients/socket.ts';
import { FakeClock } from '../helpers/fakes/clock.ts';
import { FAKE_EVENT, FAKE_MACHINE_EVENT, FAKE_NOW, FakeHistory } from '../helpers/fakes/history.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { type ConfigPart, serveHere } from '../helpers/service/service.ts';

async function start(t: Test, config: ConfigPart = {}) {
  const history = new FakeHistory();
  const service = await serveHere(t, fixtureHost(), config, { history, clock: new FakeClock() });
  const connect = () => SocketClient.openIn(t, service.port);
  return { history, port: service.port, connect, client: await connect() };
}

t.test('[7.history] the ops answer as GET /api/history and GET /api/history/processes', async (t) => {
  const { history, port, client } = await start(t);
  const columns = await client.ask('history', { series: ['cpu.load', 'x'], since: FAKE_NOW - 60 }, 'h');
  t.strictSame([columns.type, columns.id], ['history', 'h']);
  t.strictSame(
    columns.data,
    jsonOf(await ask(port, `/api/history?series=cpu.load,x&since=${FAKE_NOW - 60}`)),
  );
  t.equal(history.asked.length, 1, 'one answer for both');
  const mount = 'disk.used_percent//mnt/a,b';
  const one = await client.ask('history', { series: [mount] }, 1);
  t.strictSame(Object.keys(Object(one.data['series'])), [mount], 'a name may contain commas');
  const processes = await client.ask('process_history', { at: FAKE_NOW - 60 }, 2);
  t.strictSame([processes.type, processes.id], ['process_history', 2]);
  t.strictSame(processes.data, jsonOf(await ask(port, `/api/history/processes?at=${FAKE_NOW - 60}`)));
  client.say('history');
  t.notOk('id' in (await client.take('history')), 'without data and without an id');
});

t.test('[7.history-errors] wrong data, too many numbers, and what is switched off', async (t) => {
  const { history, client } = await start(t, { features: { enable_processes: false } });
  history.maxSlots = 10;
  for (const [op, data, code, message] of [
    ['history', { series: 'cpu.load' }, 'INVALID_DATA', /^series must be/],
    ['history', { since: '-60' }, 'INVALID_DATA', /^since must be/],
    ['history', { since: -60, until: -61 }, 'INVALID_DATA', /^since must not be after until/],
    ['history', { since: -200, step: 10 }, 'INVALID_DATA', /100,000 numbers/],
    ['process_history', {}, 'INVALID_DATA', /^The field at is missing/],
    ['process_history', { at: 1 }, 'FEATURE_DISABLED', /processes/],
  ] as const) {
    const error = await client.ask(op, data, 'x');
    t.strictSame([error.type, error.data['code']], ['error', code], JSON.stringify(data));
    t.match(error.data['message'], message);
  }
  history.isOn = false;
  const off = await client.ask('history', {}, 'off');
  t.match(off.data, {
    code: 'FEATURE_DISABLED',
    message: 'The history is disabled in the configuration.',
  });
});

t.test(
  '[7.events] each event is sent once to the subscribers of events, as GET /api/events has it',
  async (t) => {
    const { history, port, client, connect } = await start(t);
    const other = await connect();
    await other.ask('subscribe', { topics: ['power'] }, 'o');
    const subscribed = await client.ask('subscribe', { topics: ['events', 'media'] }, 's');
    t.strictSame(subscribed.data, { topics: ['media', 'events'], unknown: [] });
    const events = [FAKE_EVENT, { ...FAKE_EVENT, state: 'end', value: 3 } as const];
    // Two events in the same turn: neither replaces the other.
    for (const event of events) history.notify(event);
    const sent = [(await client.take('event')).data, (await client.take('event')).data];
    const { begin } = FAKE_MACHINE_EVENT;
    t.match(sent, [FAKE_MACHINE_EVENT, { ...FAKE_MACHINE_EVENT, begin, state: 'end', end: begin, value: 3 }]);
    t.strictSame(sent, (jsonOf(await ask(port, '/api/events')) as { events: unknown }).events);
    const { body } = (await client.ask('request', { name: 'events', params: { limit: 1 } }, 'r')).data;
    t.match(body, { events: [sent[1]], open: [], missing: false });
    await client.ask('unsubscribe', { topics: ['events'] }, 'u');
    history.notify(FAKE_EVENT);
    await client.ask('ping', {}, 'last');
    await other.ask('ping', {}, 'last');
    t.equal(client.told.filter(({ type }) => type === 'event').length, 2, 'none after unsubscribing');
    t.equal(other.told.filter(({ type }) => type === 'event').length, 0, 'none without subscribing');
  },
);

t.test('[7.events-state] events has no present state, and may be switched off', async (t) => {
  const { history, client } = await start(t);
  const error = await client.ask('get', { topics: ['events'] }, 'g');
  t.match(error.data, { code: 'INVALID_DATA', details: { topic: 'events' } });
  history.isOn = false;
  await client.ask('subscribe', { topics: ['events'] }, 's');
  const off = await client.take('error');
  t.match([off.id, off.data], ['s', { code: 'FEATURE_DISABLED', details: { topic: 'events' } }]);
  history.isOn = true;
  history.notify(FAKE_EVENT);
  t.match((await client.take('event')).data, FAKE_MACHINE_EVENT, 'sent once it is on again');
});
