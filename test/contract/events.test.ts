/** GET /api/events: JSON with `since`, and a stream that continues after `Last-Event-ID`. */
import '../helpers/service/dead-buses.ts';
import t, { type Test } from 'tap';
import * as v from 'valibot';
import { eventList, machineEvent } from '#src/wire/events.js';
import { EventStream } from '../helpers/clients/event-stream.ts';
import { ask, jsonOf } from '../helpers/clients/http.ts';
import { FAKE_EVENT, FakeHistory } from '../helpers/fakes/history.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { bearer, keyWith } from '../helpers/keys.ts';
import { serveHere } from '../helpers/service/service.ts';
import { until } from '../helpers/until.ts';

const RULE = { series: 'cpu.load', above: 90, for_seconds: 30 };
const KEYS = {
  all: keyWith('all', 'read', 'processes', 'metrics'),
  read: keyWith('read', 'read'),
  media: keyWith('media', 'media'),
};

async function start(t: Test) {
  const history = new FakeHistory();
  const config = { auth: { enabled: true, keys: KEYS }, watch: { rules: { busy: RULE } } };
  const service = await serveHere(t, fixtureHost(), config, { history });
  const list = async (query = '', name = 'all') =>
    v.parse(eventList, jsonOf(await ask(service.port, `/api/events${query}`, { headers: bearer(name) })));
  const open = (headers: Readonly<Record<string, string>> = {}, name = 'all') =>
    EventStream.openIn(t, service.port, '/api/events', {
      Accept: 'text/event-stream',
      ...bearer(name),
      ...headers,
    });
  const send = (part: Partial<typeof FAKE_EVENT> = {}) => history.notify({ ...FAKE_EVENT, ...part });
  return { service, list, open, send };
}

const fieldOf = (text: string, name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(text)?.[1] ?? '';

/** Takes the next `count` events. */
async function take(stream: EventStream, count: number) {
  const events: (ReturnType<typeof read> & object)[] = [];
  for (let i = 0; i < count; i++) events.push(read((await stream.next()).text));
  return events;
}

function read(text: string) {
  const event = v.parse(machineEvent, JSON.parse(fieldOf(text, 'data')));
  t.equal(Number(fieldOf(text, 'id')), event.id);
  return event;
}

t.test('[12.list] events after one, what lasts, a limit, and a number from elsewhere', async (t) => {
  const { service, list, send } = await start(t);
  const begin = await list();
  t.match(begin, { missing: false, open: [], events: [] });
  send();
  send({ state: 'end', value: 1 });
  send({ series: 'cpu.load2' });
  const { events, open, last } = await list(`?since=${begin.last}`);
  t.strictSame(
    events.map(({ state }) => state),
    ['begin', 'end', 'begin'],
  );
  t.strictSame(
    open.map(({ subject }) => subject),
    ['busy cpu.load2'],
  );
  t.equal(last, events.at(-1)?.id);
  t.match(await list('?limit=1'), { events: [{ subject: 'busy cpu.load2' }] });
  t.match(await list('?since=1'), { missing: true });
  t.ok((await list()).events[0]?.processes);
  t.notOk('processes' in Object((await list('', 'read')).events[0]), 'the cause needs the scope processes');
  for (const query of ['?since=x', '?limit=0', '?limit=1001', '?since=-1'])
    t.equal((await ask(service.port, `/api/events${query}`, { headers: bearer('all') })).status, 400, query);
  t.equal((await ask(service.port, '/api/events', { headers: bearer('media') })).status, 403);
});

t.test('[12.stream] what lasts, then each event; a client continues without loss or repeat', async (t) => {
  const { open, send, list } = await start(t);
  send();
  const first = await open();
  t.match(await take(first, 1), [{ state: 'begin', subject: 'busy cpu.load' }], 'what lasts');
  const number = (await first.next()).text;
  t.equal(number, `id: ${(await list()).last}`, 'the number alone is no event for a browser');
  send({ state: 'end', value: 3 });
  const [ended] = await take(first, 1);
  t.equal(ended?.state, 'end');
  first.close();
  send({ series: 'cpu.load2' });
  send({ series: 'cpu.load3' });
  const had = { 'Last-Event-ID': String(ended?.id) };
  const again = await open(had);
  t.match(
    await take(again, 2),
    [{ subject: 'busy cpu.load2' }, { subject: 'busy cpu.load3' }],
    'what it missed',
  );
  await again.next();
  send({ series: 'cpu.load4' });
  t.match(await take(again, 1), [{ subject: 'busy cpu.load4' }], 'and what comes');
  const bare = await take(await open(had, 'read'), 3);
  t.notOk(
    bare.some((event) => 'processes' in event),
    'without the cause',
  );
  for (const id of ['17', 'x']) {
    const stranger = await open({ 'Last-Event-ID': id });
    t.match(
      (await stranger.next()).text,
      /^id: \d+\nevent: missing\ndata: \{"since":\d+\}$/,
      'never an error',
    );
    t.equal((await take(stranger, 5)).length, 5, 'all that are kept');
  }
});

t.test(
  '[12.stream-crowd] two hundred clients connect again together: each has what it missed, once',
  async (t) => {
    const { open, send } = await start(t);
    send();
    const before = await open();
    const [had] = await take(before, 1);
    for (let i = 0; i < 5; i++) send({ series: `cpu.load${i}` });
    const streams = await Promise.all(
      Array.from({ length: 200 }, () => open({ 'Last-Event-ID': String(had?.id) })),
    );
    // A sample, or a hub that catches up, has several at once.
    for (let i = 5; i < 10; i++) send({ series: `cpu.load${i}` });
    for (const stream of streams) {
      const events = await take(stream, 5);
      await stream.next();
      events.push(...(await take(stream, 5)));
      t.strictSame(
        events.map(({ subject }) => subject.at(-1)),
        ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9'],
      );
    }
  },
);

t.test('[12.stream-between] what happens while no stream is open is not missed afterwards', async (t) => {
  const { service, open, send, list } = await start(t);
  const had = { 'Last-Event-ID': String((await list()).last) };
  const first = await open(had);
  await first.next();
  first.close();
  await until(async () => {
    const metrics = await ask(service.port, '/metrics', { headers: bearer('all') });
    return !/^hostwire_streams\S* [1-9]/m.test(metrics.body.toString());
  }, 'no stream is left');
  send();
  // The next one begins elsewhere: only the third begins where the first did.
  await (await open()).next();
  t.match(await take(await open(had), 1), [{ subject: 'busy cpu.load' }]);
});
