/** Events name processes only to clients that may see them: as they happen and in the history, of a service and of a hub. */
import '../helpers/service/dead-buses.ts';
import t from 'tap';
import { ask, jsonOf } from '../helpers/clients/http.ts';
import { SocketClient } from '../helpers/clients/socket.ts';
import { FAKE_EVENT, FAKE_MACHINE_EVENT, FAKE_NOW, FakeHistory } from '../helpers/fakes/history.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { bearer, keyOf, keyWith } from '../helpers/keys.ts';
import { serveHere } from '../helpers/service/service.ts';
import { until } from '../helpers/until.ts';
import { startHub } from './setup.ts';

const auth = {
  enabled: true,
  keys: { read: keyWith('read', 'read'), both: keyWith('both', 'read', 'processes') },
};
const { processes: _, ...BARE } = FAKE_EVENT;
const EVENTS = { read: BARE, both: FAKE_EVENT };
const { processes: __, ...BARE_TOPIC } = FAKE_MACHINE_EVENT;
const topicOf = (expected: object) => (expected === BARE ? BARE_TOPIC : FAKE_MACHINE_EVENT);
const KEYS = ['read', 'both'] as const;
const HISTORY = { series: ['cpu.load'], since: FAKE_NOW - 60 };

t.test('[10.event-processes] events name processes only to keys with the scope `processes`', async (t) => {
  const history = new FakeHistory();
  const service = await serveHere(t, fixtureHost(), { auth, history: { minutes: 60 } }, { history });
  const entry = (name: string) => ({ url: service.baseUrl, key_file: { path: 'k', secret: keyOf(name) } });
  const hub = await startHub(t, { both: entry('both'), read: entry('read') }, { auth });
  const followers: { name: string; expected: object; take: () => Promise<unknown> }[] = [];
  for (const key of KEYS) {
    for (const [port, path, expected] of [
      [service.port, '/api', EVENTS[key]],
      [hub.port, '/api/hosts/both', EVENTS[key]],
      [hub.port, '/api/hosts/read', BARE],
    ] as const) {
      const name = `${key}: ${path}`;
      const headers = bearer(key);
      const isThere = async () =>
        (await ask(port, `${path}/history?since=${HISTORY.since}`, { headers })).status === 200;
      await until(isThere);
      const answer = jsonOf(await ask(port, `${path}/history?since=${HISTORY.since}`, { headers }));
      t.strictSame((answer as { events: unknown }).events, [expected], `${name}/history`);
      const socket = await SocketClient.openIn(t, port, { path: `${path}/ws`, headers });
      await socket.ask('subscribe', { topics: ['events'] }, 's');
      t.strictSame(
        (await socket.ask('history', HISTORY, 'h')).data['events'],
        [expected],
        `${name}: history`,
      );
      followers.push({ name, expected, take: async () => (await socket.take('event')).data });
    }
  }
  // A hub asks for a topic with its next message.
  const timer = setInterval(() => history.notify(FAKE_EVENT), 50);
  t.teardown(() => clearInterval(timer));
  for (const { name, expected, take } of followers) {
    const { id, machine, ...event } = Object(await take());
    t.strictSame(event, topicOf(expected), `${name}: event`);
    t.match([id, machine], [Number, String], name);
  }
});
