/** Floods on one connection: what arrives behind the limit is not worked through, and what is allowed holds nobody up. */
import { subscribe } from 'node:diagnostics_channel';
import t from 'tap';
import { RawConnection, requestBytes } from '../helpers/clients/http.ts';
import { createEngine, isNodeEngine } from '../helpers/service/engine.ts';
import { until } from '../helpers/until.ts';

const times = (count: number, path: string) => Buffer.concat(Array(count).fill(requestBytes(path)));
const begun: string[] = [];
const CUT_AT = 300; // Beyond what the other tests begin.
const engine = await createEngine({
  headersRead: new Set(),
  onRequest: (exchange) => {
    begun.push(exchange.head.path);
    const onChunk = () => begun.push('a piece') === CUT_AT && exchange.cut();
    if (exchange.head.method === 'POST') exchange.readBody({ onChunk, onAborted: () => undefined });
    else if (exchange.head.path !== '/held') exchange.answer({ status: '200 OK', headers: [], body: '{}' });
  },
});
t.teardown(() => engine.close());
const port = await engine.listen('127.0.0.1', 0);

t.test('requests behind one that is not answered: few are parsed, the connection is cut', async (t) => {
  // Published by node:http for each request that it has parsed.
  const parsed: unknown[] = [];
  subscribe('http.server.request.start', (message) => parsed.push(message));
  const connection = await RawConnection.openIn(t, port);
  connection.write(times(1500, '/held'));
  await connection.closed();
  t.equal(begun.length, 1);
  t.equal(parsed.length, isNodeEngine ? 18 : 0, 'the first, 16 that may wait, and the one that is too much');
});

if (isNodeEngine) {
  t.test('pipelined questions take turns with those of others', async (t) => {
    const [many, one] = [await RawConnection.openIn(t, port), await RawConnection.openIn(t, port)];
    many.write(times(16, '/many'));
    one.write(requestBytes('/one'));
    await until(() => begun.length === 18);
    t.ok(begun.indexOf('/one') < 9, `the other's was number ${begun.indexOf('/one')} of 17`);
  });

  t.test('pipelined questions of many connections do not hold up new ones', async (t) => {
    const first = begun.length;
    const floods = await Promise.all(Array.from({ length: 8 }, () => RawConnection.openIn(t, port)));
    for (const flood of floods) flood.write(times(16, '/many'));
    const connect = async () => (await RawConnection.openIn(t, port)).write(requestBytes('/new'));
    await Promise.all(Array.from({ length: 8 }, connect));
    await until(() => begun.length === first + 8 * 16 + 8);
    // One connection is accepted per turn of the loop: with a question of each connection in a turn it was number 107.
    const last = begun.lastIndexOf('/new') - first;
    t.ok(last < 50, `the last of them was number ${last} of 136`);
  });
}

t.test('pieces of a body behind the one that is too much are not taken', async (t) => {
  const connection = await RawConnection.openIn(t, port);
  const head = 'POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n';
  connection.write(`${head}${'1\r\nx\r\n'.repeat(5000)}`);
  await connection.closed();
  t.equal(begun.length, CUT_AT);
});
