/** Floods on one connection: what arrives behind the limit is not worked through. */
import { channel } from 'node:diagnostics_channel';
import t from 'tap';
import { RawConnection, requestBytes } from '../helpers/clients/http.ts';
import { createEngine, isNodeEngine } from '../helpers/service/engine.ts';

t.test(
  'pipelined requests behind one that is not answered: few are parsed, the connection is cut',
  async (t) => {
    let begun = 0;
    const engine = await createEngine({
      headersRead: new Set(),
      onRequest: () => {
        begun++;
      },
    });
    t.teardown(() => engine.close());
    const port = await engine.listen('127.0.0.1', 0);
    // Published by node:http for each request that it has parsed.
    let parsed = 0;
    const starts = channel('http.server.request.start');
    const count = () => {
      parsed++;
    };
    starts.subscribe(count);
    t.teardown(() => starts.unsubscribe(count));
    const connection = await RawConnection.openIn(t, port);
    connection.write(Buffer.concat(Array.from({ length: 1500 }, () => requestBytes('/api/status'))));
    await connection.closed();
    t.equal(begun, 1);
    t.equal(parsed, isNodeEngine ? 18 : 0, 'the first, 16 that may wait, and the one that is too much');
  },
);
