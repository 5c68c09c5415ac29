/**
 * Real proxies, each with its blocks of docs/operating.md: a silent event stream and an idle WebSocket outlive their timeouts,
 * which are 60 s by default; and what many people behind one of them do is served, whatever it does with its connections.
 */
import '../helpers/service/dead-buses.ts';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { EventStream } from '../helpers/clients/event-stream.ts';
import { SocketClient } from '../helpers/clients/socket.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { replaced, type Where } from '../helpers/proxies/blocks.ts';
import { PROGRAMS, skipProxy } from '../helpers/proxies/programs.ts';
import { NAME, startProxy } from '../helpers/proxies/start.ts';
import { AS_SHIPPED, serveHere, serveProgram } from '../helpers/service/service.ts';
import { Account, Client, type Published } from '../http/honest-clients.ts';

const SILENCE_MS = 100_000;
/** The time of a stream and a WebSocket through each proxy. */
const WATCHED_MS = process.env['HOSTWIRE_FULL'] === '1' ? 1_200_000 : 10_000;

t.setTimeout(WATCHED_MS + 280_000);

/** Modes of haproxy's connections to the service: kept without such a line, otherwise closed after each answer. */
const HAPROXY_MODES = ['', 'option http-server-close', 'option httpclose'] as const;

const FORMS = PROGRAMS.flatMap((program) =>
  (['/', '/pc/'] as const).flatMap((where: Where) =>
    (program.name === 'haproxy' ? HAPROXY_MODES : ['']).map((mode) => ({ program, where, mode })),
  ),
);
// Before the first test: all run side by side.
t.jobs = PROGRAMS.length + FORMS.length;

for (const program of PROGRAMS)
  t.test(program.name, { skip: skipProxy(program) }, async (t) => {
    const service = await serveHere(t, fixtureHost(), {
      stats: { stream_interval_seconds: 3600 },
      server: { trusted_proxies: ['127.0.0.1'], allowed_hosts: [NAME] },
    });
    const proxy = await startProxy(t, program, service.port);
    const headers = { Host: proxy.host };
    const stream = await EventStream.openIn(t, proxy.port, '/api/stream', headers);
    await stream.next();
    const client = await SocketClient.openIn(t, proxy.port, { headers });
    await sleep(SILENCE_MS);
    t.equal((await client.ask('ping', undefined, 1)).type, 'pong');
    t.equal(stream.count(), 1);
    t.ok(stream.comments.length >= 5, `${stream.comments.length} comments`);
    t.notOk(stream.connection.isClosed);
  });

/** 20 people who load the page five times in a minute each, and scrapers. */
const LOADS = { count: 100, everyMs: 600 } as const;
const SCRAPES = { count: 200, everyMs: 300 } as const;

/** Calls `act` as often as there is time for, each time when it is due. */
async function repeat({ count, everyMs }: typeof LOADS | typeof SCRAPES, act: () => Promise<unknown>) {
  const acts: Promise<unknown>[] = [];
  for (let i = 0; i < count && i * everyMs < WATCHED_MS; i++) {
    acts.push(act());
    await sleep(everyMs);
  }
  await Promise.all(acts);
}

for (const { program, where, mode } of FORMS)
  t.test(`many people behind ${program.name}, ${where} ${mode}`, { skip: skipProxy(program) }, async (t) => {
    const server = { ...AS_SHIPPED.server, trusted_proxies: ['127.0.0.1'], allowed_hosts: [NAME] };
    const service = await serveProgram(t, { config: { ...AS_SHIPPED, server } });
    const edit = (block: string) =>
      mode === '' ? block : replaced(block, '\nbackend hostwire\n', `\nbackend hostwire\n  ${mode}\n`);
    const { port, host } = await startProxy(t, program, service.port, { where, edit });
    const published: Published = new Map();
    const account = new Account();
    const person = () => new Client({ port, host, where }, account, published, {});
    // They see what the others must not miss.
    const witness = new Client(service, new Account(), published, {});
    const follow = async (client: Client) => [client.follow(), await client.followSocket()];
    const viewers = (await Promise.all([witness, person()].map(follow))).flat();
    const scraper = person();
    await Promise.all([
      sleep(WATCHED_MS),
      repeat(LOADS, async () => {
        const browser = person();
        await browser.loadFiles();
        await browser.showPage(1000);
      }),
      repeat(SCRAPES, () => scraper.get('metrics')),
    ]);
    for (const viewer of viewers) await viewer.leave();
    scraper.end();
    const { answered, events, faults } = account;
    t.strictSame(faults, {}, `${answered} answers, ${events} events`);
    t.ok(events > 0);
  });
