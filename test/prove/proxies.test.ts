/** A silent event stream and an idle WebSocket outlive the timeouts of real proxies, which are 60 s by default. */
import '../helpers/service/dead-buses.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { EventStream } from '../helpers/clients/event-stream.ts';
import { SocketClient } from '../helpers/clients/socket.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { PROGRAMS, skipProxy } from '../helpers/proxies/programs.ts';
import { NAME, startProxy } from '../helpers/proxies/start.ts';
import { startHere } from '../helpers/service/service.ts';

t.setTimeout(280_000);
t.jobs = PROGRAMS.length;

const SILENCE_MS = 100_000;

for (const program of PROGRAMS)
  t.test(program.name, { skip: skipProxy(program) }, async (t) => {
    const service = await startHere(fixtureHost(), {
      stats: { stream_interval_seconds: 3600 },
      server: { trusted_proxies: ['127.0.0.1'], allowed_hosts: [NAME] },
    });
    t.teardown(() => service.stop());
    const proxy = await startProxy(t, program, service.port);
    const headers = { Host: proxy.host };
    const stream = await EventStream.open(proxy.port, '/api/stream', headers);
    t.teardown(() => stream.close());
    await stream.next();
    const client = await SocketClient.open(proxy.port, { headers });
    t.teardown(() => client.cut());
    await sleep(SILENCE_MS);
    t.equal((await client.ask('ping', undefined, 1)).type, 'pong');
    t.equal(stream.count(), 1);
    t.ok(stream.comments.length >= 5, `${stream.comments.length} comments`);
    t.notOk(stream.connection.isClosed);
  });
