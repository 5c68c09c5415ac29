/** Six machines on the three ways to one hub: the samples that it shows are, byte for byte, those of their own services. */
import t from 'tap';
import type { BrokerEntry } from '#src/config/rows/mqtt-rows.js';
import { NO_BROKER, NO_NATS } from '../../exporters/mqtt/broker.ts';
import { EventStream } from '../../helpers/clients/event-stream.ts';
import type { ConfigPart } from '../../helpers/fakes/config-parts.ts';
import { livelyHost } from '../../helpers/fakes/lively-host.ts';
import { serveHere } from '../../helpers/service/service.ts';
import { until } from '../../helpers/until.ts';
import { BROKERS, brokerPart, machinePart } from '../broker/setup.ts';
import { dialled, dialPart } from '../dial-in/setup.ts';
import { isUp, startHub } from '../setup.ts';

t.setTimeout(580_000);

const SAMPLES = process.env['HOSTWIRE_FULL'] === '1' ? 27 : 3;
const VIEWS = [
  ...['', '?detail=1', '?fields=cpu', '?fields=memory&detail=1', '?fields=gpu', '?fields=disks,network'],
  ...['?fields=cpu,memory,gpu', '?fields=network&detail=1', '?fields=none'],
];

t.test(
  `[I.hub.same] ${SAMPLES} samples in each of ${VIEWS.length} views of six machines`,
  { skip: NO_BROKER || NO_NATS },
  async (t) => {
    const [mosquitto, nats] = await Promise.all(BROKERS.map(({ start }) => start(t)));
    if (mosquitto === undefined || nats === undefined) throw new Error('there are two');
    const entryOf = (url: string) => brokerPart(url).hub?.brokers?.['room'] as BrokerEntry;
    const brokers = { m: entryOf(mosquitto.url), n: entryOf(nats.url) };
    const start = async (id: string, config: ConfigPart = {}) =>
      await serveHere(t, livelyHost(), {
        stats: { stream_interval_seconds: 1 },
        server: { max_streams_per_address: 0 },
        host: { id },
        ...config,
      });
    const byUrl = { u1: await start('u1'), u2: await start('u2') };
    const entries = Object.entries(byUrl).map(([id, { baseUrl }]) => [id, { url: baseUrl }] as const);
    const hub = await startHub(
      t,
      { ...Object.fromEntries(entries), d1: dialled(), d2: dialled() },
      { hub: { brokers } },
    );
    const machines = {
      ...byUrl,
      d1: await start('d1', { hub: dialPart(hub) }),
      d2: await start('d2', { hub: dialPart(hub) }),
      m1: await start('m1', { mqtt: machinePart(mosquitto) }),
      n1: await start('n1', { mqtt: machinePart(nats) }),
    };
    for (const [id, { port }] of Object.entries(machines)) {
      await hub.host(id, isUp);
      // When the views change a hub is sent a sample at once, which the streams of the machine do not have.
      const all = await Promise.all(
        VIEWS.map(async (view) => await hub.open(`/api/hosts/${id}/stream${view}`)),
      );
      const pairs = VIEWS.map(async (view, at) => {
        const seen = all[at];
        if (seen === undefined) throw new Error('each has a stream');
        const own = await EventStream.openIn(t, port, `/api/stream${view}`);
        // The first one may be such a sample.
        await until(() => own.count() >= 2);
        const first = own.events[1]?.text;
        const begun = () => seen.events.findIndex(({ text }) => text === first);
        await until(
          () => seen.count() > 0 && begun() >= 0 && seen.count() - begun() >= SAMPLES,
          `${id}${view}`,
        );
        const newest = own.count();
        await until(() => own.count() > newest);
        own.close();
        const texts = new Set(own.events.map(({ text }) => text));
        const others = seen.events.slice(begun(), begun() + SAMPLES).filter(({ text }) => !texts.has(text));
        return others.map(({ text }) => `${view}: ${text}`);
      });
      t.strictSame((await Promise.all(pairs)).flat(), [], `${id}: the same bytes`);
      for (const seen of all) seen.close();
    }
    t.comment(
      `figure: ${SAMPLES} samples × ${VIEWS.length} views × ${Object.keys(machines).length} machines, all of the same bytes`,
    );
  },
);
