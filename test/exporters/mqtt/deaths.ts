/** A broker that dies again and again while commands are sent: what was done, how often, and how late. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { FakeMediaHost } from '../../helpers/fakes/media.ts';
import { checkTime } from '../../helpers/limits.ts';
import { createRandom, type Random } from '../../helpers/random.ts';
import { until } from '../../helpers/until.ts';
import {
  AVAILABILITY,
  commandTopic,
  feedbackIn,
  mqttPart,
  startBeside,
  startBroker,
  Witness,
} from './broker.ts';

const AVAILABLE_WITHIN_MS = 10_000;
/** By the broker's and the senders' own retries; a command that says when it was sent is refused after 10 s. */
const MAX_AGE_SECONDS = 11;
const SEND_EVERY_MS = 120;

interface Sent {
  readonly atMs: number;
  readonly kind: string;
}

/** Four ways to send a command; each command has a number of its own, the position in the track. */
const KINDS = {
  'with an id': (value: number, atMs: number) => ({
    payload: { value, id: `c${value}`, sent_at: atMs / 1000 },
    options: { qos: 1 as const },
  }),
  'without an id': (value: number, atMs: number) => ({
    payload: { value, sent_at: atMs / 1000 },
    options: { qos: 1 as const },
  }),
  'with QoS 0': (value: number) => ({ payload: { value }, options: { qos: 0 as const } }),
  retained: (value: number, atMs: number) => ({
    payload: { value, sent_at: atMs / 1000 },
    options: { qos: 1 as const, retain: true },
  }),
};

export async function sufferDeaths(t: Test, deaths: number, seed: number): Promise<void> {
  const random = createRandom(seed);
  const persistence = ['persistence true', 'persistence_location @/', 'autosave_on_changes true'];
  const broker = await startBroker(t, ['allow_anonymous true', ...persistence, 'autosave_interval 1']);
  const witness = await Witness.open(t, broker.url, { resubscribe: true });
  const { service, media } = await startBeside(t, { mqtt: mqttPart(broker.url, { interval_seconds: 1 }) });
  const done: { readonly value: number; readonly atMs: number }[] = [];
  media.control = async (...args) => {
    done.push({ value: args[2] ?? -1, atMs: Date.now() });
    return await FakeMediaHost.prototype.control.apply(media, args);
  };
  await witness.waitFor(AVAILABILITY, 'online');
  const load = startLoad(t, broker.url);
  for (let death = 1; death <= deaths; death++) {
    await sleep(pause(random, 1200));
    // Some of them are delivered and not acknowledged when it dies.
    load.burst(random.below(12));
    await sleep(random.below(8));
    await broker.kill();
    await sleep(pause(random, 400));
    const from = witness.on(AVAILABILITY).length;
    await broker.start();
    const startedAt = performance.now();
    // Its retained state may be from before. The log leaves lines out when there are many.
    const answered = load.nextId();
    await until(() => feedbackIn(witness).some(({ id }) => isSince(id, answered)), `death ${death}`);
    await witness.waitFor(AVAILABILITY, 'online', from);
    checkTime(t, performance.now() - startedAt, AVAILABLE_WITHIN_MS, `availability after death ${death}`);
    t.equal(witness.on(AVAILABILITY).at(-1), 'online', `death ${death}`);
  }
  await sleep(1500);
  load.stop();
  judge(t, load.sent, done);
  t.ok(service.stderr().split('lost connection').length - 1 <= deaths, 'at most one line per death');
  const ignored = feedbackIn(witness).filter(({ stage }) => stage === 'ignored');
  t.comment(`${ignored.length} ignored: ${[...new Set(ignored.map(({ code }) => code))].join(', ')}`);
}

const pause = (random: Random, limitMs: number) => 100 + random.below(limitMs);

/** True for messages from `first` on: their ids are the letter c and a number. */
const isSince = (id: string | number | undefined, first: number) => Number(String(id).slice(1)) >= first;

function judge(
  t: Test,
  sent: ReadonlyMap<number, Sent>,
  done: readonly { value: number; atMs: number }[],
): void {
  for (const kind of Object.keys(KINDS)) {
    const ofKind = done.filter(({ value }) => sent.get(value)?.kind === kind);
    const values = ofKind.map(({ value }) => value);
    const twice = values.filter((value, at) => values.indexOf(value) !== at);
    t.same(twice, [], `${kind}: none is done twice`);
    // The service speaks MQTT 5, where retained messages arrive with their mark while it is connected too.
    if (kind === 'retained') {
      t.same(values, [], 'none that is retained is done');
      continue;
    }
    t.ok(values.length > 0, `${kind}: ${values.length} are done`);
    const ages = ofKind.map(({ value, atMs }) => (atMs - (sent.get(value)?.atMs ?? 0)) / 1000);
    const oldest = Math.max(...ages);
    t.ok(oldest < MAX_AGE_SECONDS, `${kind}: the oldest is ${oldest.toFixed(2)} s old`);
  }
  t.ok(
    done.every(({ value }) => sent.has(value)),
    'nothing is done that was not sent',
  );
}

/** Sends commands of all kinds, by a client that keeps and repeats what it does not know to be delivered. */
function startLoad(t: Test, url: string) {
  const { client } = new Witness(url, { queueQoSZero: false });
  t.teardown(() => client.end(true));
  const sent = new Map<number, Sent>();
  const kinds = Object.entries(KINDS);
  let next = 1;
  const send = () => {
    const [kind, make] = kinds[next % kinds.length] ?? ['', KINDS['with QoS 0']];
    const atMs = Date.now();
    const { payload, options } = make(next, atMs);
    sent.set(next++, { atMs, kind });
    client.publish(commandTopic('media.seek'), JSON.stringify(payload), options, () => undefined);
  };
  const timer = setInterval(send, SEND_EVERY_MS);
  t.teardown(() => clearInterval(timer));
  const burst = (count: number) => {
    for (let left = count; left > 0; left--) send();
  };
  return { sent, burst, nextId: () => next, stop: () => clearInterval(timer) };
}
