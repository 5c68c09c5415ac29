/**
 * Thousands of clients that connect again at once, each with the number of the last event that it had, while further
 * events come: each gets what it missed and what comes, in order, and nothing twice. HOSTWIRE_FULL=1: 10,000.
 */
import { writeFileSync } from 'node:fs';
import net from 'node:net';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import * as v from 'valibot';
import { eventList } from '#src/wire/events.js';
import { ask, jsonOf, requestBytes } from '../../helpers/clients/http.ts';
import { configText, serveProgram, withDescriptors } from '../../helpers/service/service.ts';
import { until } from '../../helpers/until.ts';

const CLIENTS = process.env['HOSTWIRE_FULL'] === '1' ? 10_000 : 1000;
/** Connections that are opened in one turn: more than the backlog of a listening socket would wait for SYNs sent again. */
const LOT = 250;
/** Events of each kind. */
const EVENTS = 10;

t.setTimeout(600_000);

/** Rules that begin at once, from `first` on. */
const configOf = (first: number) => ({
  history: { minutes: 60, idle_interval_seconds: 1 },
  watch: {
    defaults: false,
    rules: Object.fromEntries(
      Array.from({ length: EVENTS }, (_, at) => [
        `rule${first + at}`,
        { series: 'cpu.load', above: -1, for_seconds: 1 },
      ]),
    ),
  },
});

/** The ids of the events that one client has had since. */
class Client {
  readonly ids: number[] = [];
  #rest = '';

  constructor(port: number, last: number) {
    const socket = net.connect(port, '127.0.0.1');
    const headers = { Accept: 'text/event-stream', 'Last-Event-ID': String(last) };
    socket.write(requestBytes('/api/events', { headers }));
    socket.setEncoding('latin1').on('error', () => undefined);
    socket.on('data', (text) => {
      const parts = `${this.#rest}${text}`.split('\n\n');
      this.#rest = parts.pop() ?? '';
      for (const part of parts) {
        const id = /id: (\d+)\nevent: event\n/.exec(part)?.[1];
        if (id !== undefined) this.ids.push(Number(id));
      }
    });
    t.teardown(() => socket.destroy());
  }
}

t.test(`[12.stream-crowd] ${CLIENTS} clients connect again together`, async (t) => {
  const { port, pid, configFile } = await serveProgram(t, {
    config: configOf(0),
    start: withDescriptors(CLIENTS + 1000),
  });
  const list = async (since = 0) =>
    v.parse(eventList, jsonOf(await ask(port, `/api/events?since=${since}`))).events.map(({ id }) => id);
  await until(async () => (await list()).length === EVENTS);
  const last = (await list())[2] ?? 0;
  const clients: Client[] = [];
  const beganAt = performance.now();
  for (let count = 0; count < CLIENTS; count += LOT) {
    for (let each = 0; each < LOT; each++) clients.push(new Client(port, last));
    // The rules of before end, and others begin, while most are still to come.
    if (count === LOT) {
      writeFileSync(configFile, configText(configOf(100)));
      process.kill(pid, 'SIGHUP');
    }
    await sleep(1);
  }
  await until(async () => (await list()).length === 3 * EVENTS);
  const missed = await list(last);
  t.equal(missed.length, 3 * EVENTS - 3);
  const incomplete = () => clients.filter(({ ids }) => ids.length < missed.length).length;
  await until(
    () => incomplete() === 0,
    () => `${incomplete()} clients miss some`,
  );
  const seconds = (performance.now() - beganAt) / 1000;
  const wrong = clients.filter(({ ids }) => ids.join() !== missed.join()).length;
  t.equal(wrong, 0, 'each has all, in order, once');
  t.comment(
    `figure: ${clients.length} clients with Last-Event-ID within ${seconds.toFixed(1)} s, ${missed.length} events each, 0 missed, 0 twice`,
  );
});
