/** The wire contents that a refused client gets, route by route: bare 401 and 403, and what stays public. */
import t from 'tap';
import { checkHeaders } from '../helpers/clients/answers.ts';
import { ask, RawConnection, valuesOf } from '../helpers/clients/http.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { DIFFERENCES } from '../helpers/service/differences.ts';
import { type ConfigPart, serveHere } from '../helpers/service/service.ts';

const KEY = 'k'.repeat(32);
const CLOSED = ['/api/usage', '/api/system', '/api/stream', '/api/ws', '/api/pw', '/api/nope'];

async function serve(test: typeof t, auth: ConfigPart['auth']): Promise<number> {
  const service = await serveHere(test, fixtureHost(), { auth: auth ?? {} });
  return service.port;
}

const withKey = await serve(t, { enabled: true, api_key: KEY });
const blocked = await serve(t, { blocked_ips: ['127.0.0.1'], allowed_ips: ['127.0.0.1'] });
const elsewhere = await serve(t, { enabled: true, api_key: KEY, allowed_ips: ['192.0.2.0/24'] });
const listed = await serve(t, { enabled: true, api_key: KEY, allowed_ips: ['127.0.0.0/8'] });
const wildcard = await serve(t, { enabled: true, api_key: KEY, allowed_ips: ['*'] });

const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });

t.test('[I.401] [1.bare-401] a missing or wrong key: 401 without a body, with a challenge', async (t) => {
  for (const port of [withKey, wildcard])
    for (const path of CLOSED)
      for (const headers of [{}, bearer('wrong'), { Authorization: `Basic ${KEY}` }]) {
        const answer = await ask(port, path, { headers });
        t.equal(answer.status, 401, path);
        checkHeaders(t, answer, { 'www-authenticate': 'Bearer' });
        t.equal(answer.body.length, 0);
        t.strictSame(valuesOf(answer, 'content-length'), ['0']);
      }
});

t.test('[9.engine-differences] a key with bytes above 0x7f around it', async (t) => {
  for (const value of [`Bearer ${KEY}\xff`, `\x80Bearer ${KEY}`]) {
    const connection = await RawConnection.openIn(t, withKey);
    connection.write(
      Buffer.from(`GET /api/pw HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${value}\r\n\r\n`, 'latin1'),
    );
    t.equal((await connection.readAnswer()).status, DIFFERENCES.trimsHighBytes ? 200 : 401);
  }
});

t.test(
  '[I.403] [1.bare-403] [I.auth.blocked] a blocked or unlisted address: 403, nothing else',
  async (t) => {
    const refused = [
      ...['/api/status', ...CLOSED].map((path) => [blocked, path] as const),
      ...CLOSED.map((path) => [elsewhere, path] as const),
    ];
    for (const [port, path] of refused) {
      const answer = await ask(port, path, { headers: bearer(KEY) });
      t.equal(answer.status, 403, path);
      checkHeaders(t, answer, {});
      t.equal(answer.body.length, 0);
      t.strictSame(valuesOf(answer, 'content-length'), ['0']);
    }
  },
);

t.test('[I.auth.status-public] status needs no key, and no listed address', async (t) => {
  for (const port of [withKey, elsewhere, wildcard]) t.equal((await ask(port, '/api/status')).status, 200);
});

t.test(
  '[I.auth.key] [I.auth.skip] [I.auth.wildcard] the right key, or a listed address, is let in',
  async (t) => {
    for (const port of [withKey, wildcard])
      t.equal((await ask(port, '/api/usage', { headers: bearer(KEY) })).status, 200);
    t.equal((await ask(listed, '/api/usage')).status, 200);
    t.equal(
      (await ask(listed, '/api/usage', { headers: bearer('wrong') })).status,
      200,
      'the key is not looked at',
    );
  },
);

t.test(
  '[1.refused-bodies] a refusal does not wait for a body, and the connection stays in step',
  async (t) => {
    const connection = await RawConnection.openIn(t, withKey);
    for (let i = 0; i < 3; i++) {
      connection.write('POST /api/pw/sleep HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n');
      t.equal((await connection.readAnswer()).status, 401);
      connection.write('GET /');
    }
  },
);
