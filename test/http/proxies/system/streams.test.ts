/** Event streams and WebSockets through real proxies, each with its block of docs/operating.md. */
import '../../../helpers/service/dead-buses.ts';
import t, { type Test } from 'tap';
import { EventStream, payloadOf } from '../../../helpers/clients/event-stream.ts';
import { RawConnection } from '../../../helpers/clients/http.ts';
import { SocketClient } from '../../../helpers/clients/socket.ts';
import { fixtureHost } from '../../../helpers/fakes/host.ts';
import type { Where } from '../../../helpers/proxies/blocks.ts';
import { PROGRAMS, type ProxyProgram, skipProxy } from '../../../helpers/proxies/programs.ts';
import { NAME, type StartedProxy, startProxy } from '../../../helpers/proxies/start.ts';
import { startOnClock } from '../../../helpers/service/clocked.ts';

t.jobs = 8;

const INTERVAL_MS = 1000;

async function start(t: Test, program: ProxyProgram, where: Where, scheme: 'http' | 'https') {
  const rig = await startOnClock(t, fixtureHost(), {
    stats: { stream_interval_seconds: INTERVAL_MS / 1000 },
    server: { trusted_proxies: ['127.0.0.1'], allowed_hosts: [NAME] },
  });
  return { ...rig, proxy: await startProxy(t, program, rig.port, { where, scheme }) };
}

async function connectTo(t: Test, { port, isSecure }: StartedProxy): Promise<RawConnection> {
  const connection = isSecure
    ? await RawConnection.openSecure(port, { servername: NAME })
    : await RawConnection.open(port);
  t.teardown(() => connection.destroy());
  return connection;
}

for (const program of PROGRAMS)
  for (const [where, scheme] of [
    ['/', 'https'],
    ['/pc/', 'http'],
  ] as const)
    t.test(`${program.name}, ${scheme}, ${where}`, { skip: skipProxy(program) }, async (t) => {
      const { clock, proxy, withFirstLoad } = await start(t, program, where, scheme);
      const headers = { Host: proxy.host };

      await t.test('an event of a stream arrives before the next one is sent', async (t) => {
        const connection = await connectTo(t, proxy);
        const stream = await withFirstLoad(() => EventStream.over(connection, `${where}api/stream`, headers));
        let last = Number(payloadOf(await stream.next())['timestamp']);
        for (let i = 0; i < 3; i++) {
          await clock.advance(INTERVAL_MS);
          // The clock stands still: an event that a proxy kept would never arrive.
          const next = Number(payloadOf(await stream.next())['timestamp']);
          t.equal(next, last + 1);
          last = next;
        }
      });

      await t.test('a WebSocket is upgraded, follows samples, and its command is answered', async (t) => {
        const client = await SocketClient.openIn(t, proxy.port, {
          path: `${where}api/ws`,
          headers: { ...headers, Origin: proxy.origin },
          isSecure: proxy.isSecure,
          servername: NAME,
        });
        await client.take('connected');
        client.say('subscribe', { topics: ['cpu'] });
        await client.take('subscribed');
        await client.take('system_stats');
        await clock.advance(INTERVAL_MS);
        await client.take('system_stats');
        t.match(await client.ask('power', { action: 'sleep' }, 1), {
          type: 'power_feedback',
          data: { success: true, stage: 'accepted' },
        });
      });
    });
