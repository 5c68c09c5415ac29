/** Many wrong keys of one address: answered as before, at the cost of a connection each, without effect on others. */
import t from 'tap';
import { RATES } from '#src/fairness/limits.js';
import { checkHeaders } from '../helpers/clients/answers.ts';
import { type RawAnswer, RawConnection, requestBytes, valuesOf } from '../helpers/clients/http.ts';
import { FakeClock } from '../helpers/fakes/clock.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { serveHere } from '../helpers/service/service.ts';

const KEY = 'k'.repeat(32);

const clock = new FakeClock();
const service = await serveHere(t, fixtureHost(), { auth: { enabled: true, api_key: KEY } }, { clock });

const withKey = (key: string, method = 'GET') =>
  requestBytes('/api/nope', { method, headers: { Authorization: `Bearer ${key}` } });
const isLast = (answer: RawAnswer) => valuesOf(answer, 'connection').some((value) => /close/i.test(value));

async function send(connection: RawConnection, key: string, method?: string): Promise<RawAnswer> {
  connection.write(withKey(key, method));
  return await connection.readAnswer(method);
}

t.test(
  '[1.keys-wrong-pace] beyond the pace, a wrong key ends its connection; a right one does not',
  async (t) => {
    const first = await RawConnection.openIn(t, service.port);
    for (let count = 0; count < RATES.wrongKeys.burst; count++) {
      const answer = await send(first, `wrong${count}`);
      if (answer.status !== 401 || isLast(answer)) t.fail(`answer ${count}: ${answer.status}`);
    }
    const early = await RawConnection.openIn(t, service.port);
    t.equal((await send(early, KEY)).status, 404);
    for (const method of ['GET', 'HEAD', 'POST', 'GET']) {
      const connection = await RawConnection.open(service.port);
      const answer = await send(connection, 'wrong', method);
      t.equal(answer.status, 401);
      const headers = answer.headers.filter(([name]) => name.toLowerCase() !== 'connection');
      checkHeaders(t, { headers }, { 'www-authenticate': 'Bearer' });
      t.strictSame(valuesOf(answer, 'content-length'), ['0']);
      t.ok(isLast(answer), `${method}: the connection ends`);
      await connection.closed();
    }
    for (let count = 0; count < 3; count++) {
      const answer = await send(early, KEY);
      t.equal(answer.status, 404, 'a right key passes: there is only nothing at this path');
      t.notOk(isLast(answer), 'which stays open');
    }
    const other = await RawConnection.openIn(t, service.port, '127.0.0.1', '127.0.0.2');
    const answer = await send(other, 'wrong');
    t.equal(answer.status, 401);
    t.notOk(isLast(answer), 'another address has a burst of its own');
    await clock.advance(1000);
    const later = await RawConnection.openIn(t, service.port);
    for (let count = 0; count < 10; count++) t.notOk(isLast(await send(later, 'wrong')), 'ten per second');
    t.ok(isLast(await send(later, 'wrong')));
  },
);
