/**
 * Receivers that hang cost no stream an event, and the event loop no time: two hubs beside each other follow one machine,
 * and one of them has a target of each kind that never answers, with a full queue that it keeps in a file.
 */
import net from 'node:net';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { median } from '../../../bench/cpu.ts';
import { EventStream } from '../../helpers/clients/event-stream.ts';
import { listen } from '../../helpers/clients/listen.ts';
import type { ConfigPart } from '../../helpers/fakes/config-parts.ts';
import { checkTime } from '../../helpers/limits.ts';
import { emptyFolder } from '../../helpers/scope.ts';
import { type Holds, startProbed } from '../../helpers/service/probed.ts';
import { until } from '../../helpers/until.ts';
import { keyFile } from '../../hub/dial-in/setup.ts';
import { PlayedMachine } from '../../hub/played-machine.ts';

const IS_FULL = process.env['HOSTWIRE_FULL'] === '1';
const WINDOWS = IS_FULL ? 20 : 2;
const WINDOW_MS = 3000;
/** Outages before the first window: in full more than a target keeps. */
const BEFORE = IS_FULL ? 1050 : 100;
/** Between two outages: a machine that sends more than a hub takes is cut. */
const PAUSE_MS = 50;
const MAX_COST_MS = 5;

t.setTimeout(300_000);

async function startHub(t: Test, machine: PlayedMachine, more: ConfigPart) {
  const hub = { agents: { a: { url: machine.url } }, state_path: path.join(emptyFolder(t), 'state') };
  // A file has no labels where a configuration has none.
  const config = { ...more, hub } as unknown as ConfigPart;
  const started = await startProbed(config, '127.0.0.1', ['hub']);
  t.teardown(() => started.stop('SIGKILL'));
  const stream = await EventStream.openIn(t, started.port, '/api/events', { Accept: 'text/event-stream' });
  const holds: Holds[] = [];
  return { ...started, stream, holds };
}

t.test('[12.notify-hanging] four receivers that hang', async (t) => {
  let connections = 0;
  const url = `http://127.0.0.1:${await listen(
    t,
    net.createServer((socket) => {
      connections++;
      socket.on('error', () => undefined).resume();
    }),
  )}`;
  const hanging = { url, min_severity: 'info' } as const;
  const targets = {
    alertmanager: { type: 'alertmanager', ...hanging },
    webhook: { type: 'webhook', ...hanging },
    ntfy: { type: 'ntfy', topic: 'a', ...hanging },
    gotify: { type: 'gotify', token_file: keyFile(t), ...hanging },
  } as const;
  const machine = await PlayedMachine.start(t);
  const hubs = [
    await startHub(t, machine, {}),
    await startHub(t, machine, { notify: { targets, batch_seconds: 0, max_per_hour: 10_000 } } as never),
  ] as const;
  await until(() => machine.eventsAsked.length === hubs.length, 'both follow it');
  let count = 0;
  const happen = () => {
    machine.happens(`R s${count}`, 'begin');
    machine.happens(`R s${count++}`, 'end');
  };
  const seen = ({ stream }: (typeof hubs)[number]) => {
    stream.count();
    return stream.events.flatMap(
      ({ text }) =>
        /"subject":"R s(\d+)","severity":"warning","state":"(\w+)"/.exec(text)?.slice(1).join() ?? [],
    );
  };
  const arrived = async () =>
    await until(
      () => hubs.every((hub) => seen(hub).length >= 2 * count),
      () => `${hubs.map((hub) => seen(hub).length)} of ${2 * count}`,
    );
  while (count < BEFORE) {
    happen();
    await sleep(PAUSE_MS);
  }
  await arrived();
  for (const hub of hubs) await hub.readHolds();
  for (let window = 0; window < WINDOWS; window++) {
    const endsAt = performance.now() + WINDOW_MS;
    while (performance.now() < endsAt) {
      happen();
      await sleep(PAUSE_MS);
    }
    await arrived();
    for (const hub of hubs) hub.holds.push(await hub.readHolds());
  }
  const wanted = Array.from({ length: count }, (_, at) => [`${at},begin`, `${at},end`]).flat();
  for (const hub of hubs) t.strictSame(seen(hub), wanted, 'each event once, in order');
  t.ok(connections >= Object.keys(targets).length, `${connections} requests hang`);
  const [without, beside] = hubs.map(({ holds }) => median(holds.map(({ longestCpuMs }) => longestCpuMs)));
  const [most = 0, mostBeside = 0] = hubs.map(({ holds }) =>
    Math.max(...holds.map(({ longestCpuMs }) => longestCpuMs)),
  );
  checkTime(t, (beside ?? 0) - (without ?? 0), MAX_COST_MS, 'the cost of the longest hold');
  t.comment(
    `figure: ${2 * count} events, 0 missed; longest hold of the event loop in ${WINDOWS} windows of 3 s: ${beside?.toFixed(1)} ms of CPU (median), at most ${mostBeside.toFixed(1)}, beside four targets that hang; ${without?.toFixed(1)}, at most ${most.toFixed(1)}, without targets`,
  );
});
