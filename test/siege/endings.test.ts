/** The measure of what the service does to attackers: it finds each connection that was neither ended nor answered. */
import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { ATTACKS } from './attacks.ts';
import { Endings } from './endings.ts';
import { tableOf } from './run.ts';

const SOON_SECONDS = 0.05;
const LONG_SECONDS = 600;

/** A connection, and the server's end of it. */
async function connectionOf(t: { teardown(run: () => unknown): unknown }) {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  // It listens on a port.
  const { port } = server.address() as net.AddressInfo;
  const client = net.connect(port, '127.0.0.1');
  client.on('error', () => undefined);
  const [[peer]] = (await Promise.all([once(server, 'connection'), once(client, 'connect')])) as [
    [net.Socket], // As the event is declared.
    unknown[],
  ];
  peer.on('error', () => undefined);
  t.teardown(() => {
    client.destroy();
    peer.destroy();
    server.close();
  });
  return { client, peer };
}

t.test('without an expectation there is no report', async (t) => {
  t.equal(new Endings().report(), undefined);
});

t.test('an end in time is met: FIN, RST, and a connection that was refused', async (t) => {
  const endings = new Endings();
  const [fin, reset, refused] = await Promise.all([connectionOf(t), connectionOf(t), connectionOf(t)]);
  refused.client.destroy();
  for (const { client } of [fin, reset, refused]) endings.expect(client, LONG_SECONDS);
  // Not once(), which a reset rejects.
  const ended = [once(fin.client, 'end'), new Promise((resolve) => reset.client.once('close', resolve))];
  fin.peer.end();
  reset.peer.resetAndDestroy();
  await Promise.all(ended);
  const report = endings.report();
  t.match(report, { due: 3, overdue: 0 });
  t.ok((report?.slowestSeconds ?? 0) > 0);
});

t.test('a connection that stays open is overdue, and only once that is due', async (t) => {
  const endings = new Endings();
  const [now, later] = await Promise.all([connectionOf(t), connectionOf(t)]);
  endings.expect(now.client, SOON_SECONDS);
  endings.expect(later.client, LONG_SECONDS);
  await sleep(2 * SOON_SECONDS * 1000);
  t.strictSame(endings.report(), { due: 1, overdue: 1, slowestSeconds: 0 });
});

t.test('nothing is due of a forgotten connection, and its end counts for nothing', async (t) => {
  const endings = new Endings();
  const { client, peer } = await connectionOf(t);
  endings.expect(client, 0);
  endings.forget(client);
  t.equal(endings.report(), undefined);
  const ended = once(client, 'end');
  peer.end();
  await ended;
  t.equal(endings.report(), undefined);
});

t.test('an end that comes too late is overdue', async (t) => {
  const endings = new Endings();
  const { client, peer } = await connectionOf(t);
  endings.expect(client, SOON_SECONDS);
  await sleep(2 * SOON_SECONDS * 1000);
  const ended = once(client, 'end');
  peer.end();
  await ended;
  t.strictSame(endings.report(), { due: 1, overdue: 1, slowestSeconds: 0 });
});

t.test('an answer is as good as an end only where that is said', async (t) => {
  for (const [what, within, overdue] of [
    ['answer', LONG_SECONDS, 0],
    ['end', SOON_SECONDS, 1],
  ] as const) {
    const endings = new Endings();
    const { client, peer } = await connectionOf(t);
    const answered = once(client, 'data');
    endings.expect(client, within, what);
    peer.write('HTTP/1.1 401 Unauthorized\r\n');
    await answered;
    await sleep(2 * SOON_SECONDS * 1000);
    t.match(endings.report(), { due: 1, overdue });
  }
});

t.test('connections that the attack closes when it is over are not counted', async (t) => {
  const endings = new Endings();
  const { client } = await connectionOf(t);
  endings.expect(client, LONG_SECONDS);
  t.equal(endings.report(), undefined);
  client.destroy();
  await once(client, 'close');
  t.equal(endings.report(), undefined);
});

t.test('a row says how many connections were ended or answered in time', async (t) => {
  const figures = { times: 3, rate: '50 frames/s', worstStatusMs: 9, worstLateMs: 8, peakMib: 1 };
  const endings = { due: 12, overdue: 2, slowestSeconds: 0.31 };
  const [, , row] = tableOf([{ name: 'floods', ...figures, endings }]);
  t.equal(row, '| floods | 3 | 50 frames/s | 9 | 8 | 1.0 | 10 of 12, 0.3 s |');
});

t.test('each attack has a name of its own', async (t) => {
  t.equal(new Set(ATTACKS.map(({ name }) => name)).size, ATTACKS.length);
});
