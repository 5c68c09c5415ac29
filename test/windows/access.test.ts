/** The rules of access hold on Windows as well: part of the matrix, over real sockets. */
import t from 'tap';
import { ask } from '../helpers/clients/http.ts';
import { startOnWindows } from './wine.ts';

t.setTimeout(240_000);

const KEY = 'k'.repeat(32);

t.test('with a key', async (t) => {
  const service = await startOnWindows({ auth: { enabled: true, api_key: KEY } });
  const statusOf = async (path: string, headers: Readonly<Record<string, string>> = {}) =>
    (await fetch(service.baseUrl + path, { headers })).status;
  t.equal(await statusOf('/api/status'), 200, 'public');
  t.equal(await statusOf('/api/usage'), 401, 'no key');
  t.equal(await statusOf('/api/usage', { authorization: `Bearer ${KEY}` }), 200);
  t.equal(await statusOf('/api/usage', { authorization: `bearer ${KEY}` }), 200);
  t.equal(await statusOf('/api/usage', { authorization: `Bearer ${KEY}x` }), 401);
  t.equal(await statusOf('/api/stream'), 401);
  const refused = await fetch(`${service.baseUrl}/api/usage`);
  t.equal(await refused.text(), '', 'no body');
  t.equal((await service.stop()).code, 0);
});

t.test('with lists', async (t) => {
  const service = await startOnWindows({
    auth: { enabled: true, api_key: KEY, allowed_ips: ['127.0.0.0/30'], blocked_ips: ['127.0.0.3'] },
  });
  const from = async (address: string, path: string) => (await ask(service.port, path, {}, address)).status;
  t.equal(await from('127.0.0.2', '/api/usage'), 200, 'allow-listed: no key is asked for');
  t.equal(await from('127.0.0.9', '/api/usage'), 403, 'in no entry');
  t.equal(await from('127.0.0.9', '/api/status'), 200, 'public');
  t.equal(await from('127.0.0.3', '/api/status'), 403, 'blocked, for what is public too');
  t.equal((await service.stop()).code, 0);
});

t.test('the web guard', async (t) => {
  const service = await startOnWindows();
  const statusOf = async (headers: Readonly<Record<string, string>>, method = 'GET', path = '/api/usage') =>
    (await ask(service.port, path, { method, headers })).status;
  t.equal(await statusOf({ Host: 'rebound.example.com' }), 403, 'a foreign name');
  t.equal(await statusOf({ Host: 'localhost' }), 200);
  const foreign = { Host: 'localhost', Origin: 'http://elsewhere.example.com' };
  t.equal(await statusOf(foreign, 'POST', '/api/pw/sleep'), 403, 'a foreign page');
  t.equal((await service.stop()).code, 0);
});
