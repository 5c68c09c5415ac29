/** A pinned client: reaches the server with that key whatever its certificate says, and sends no other one anything. */
import '../helpers/service/dead-buses.ts';
import dns from 'node:dns';
import { readFileSync } from 'node:fs';
import type net from 'node:net';
import path from 'node:path';
import tls from 'node:tls';
import t, { type Test } from 'tap';
import { type ConnectionState, connect, request, streamStats } from '#src/client/client.js';
import { makePair } from '../helpers/certificates.ts';
import { listen } from '../helpers/clients/listen.ts';
import { startSecure } from '../helpers/service/secure.ts';
import { until } from '../helpers/until.ts';

const ROOT = path.resolve(import.meta.dirname, '../../../..');
const KEY = 'k'.repeat(40);

// As on every machine with an /etc/hosts.
const { lookup } = dns;
const lookupHere: net.LookupFunction = (name, options, done) =>
  lookup(name === 'localhost' ? '127.0.0.1' : name, options, done);
Object.assign(dns, { lookup: lookupHere });

t.test(
  '[8.tls-pin] requests, streams and sockets reach a self-signed, expired certificate by its pin',
  async (t) => {
    const service = await startSecure(t, { auth: { enabled: true, api_key: KEY } });
    const expired = await makePair({ name: 'elsewhere', fromDays: -9, untilDays: -1 });
    service.renew(expired);
    await until(() => service.stderr().includes('new connections use the certificate'));
    const options = { url: `https://localhost:${service.securePort}`, key: KEY, pin: expired.pin };
    t.match((await request('/api/usage', options)).data, { cpu: {} });
    const body = { action: 'play' };
    t.match((await request('/api/media/control', { ...options, body })).data, { status: 'ok' });
    await t.rejects(request('/api/nothing', options), { code: 'not_found', status: 404 });
    await t.rejects(request('/api/usage', { ...options, key: 'wrong' }), { code: 'unauthorized' });
    const samples = await new Promise<number>((resolve) => {
      let count = 0;
      const stream = streamStats({ ...options, onSample: () => ++count === 2 && resolve(count) });
      t.teardown(() => stream.close());
    });
    t.equal(samples, 2);
    // By address: there is no server name then.
    const socket = connect({ ...options, url: `https://127.0.0.1:${service.securePort}` });
    t.teardown(() => socket.close());
    t.match(await socket.get(['stats.cpu']), { stats: { cpu: {} } });
    const refused = await new Promise<ConnectionState>((resolve) => {
      const other = connect({ ...options, key: 'wrong' });
      other.on('state', (state) => state.state === 'closed' && resolve(state));
    });
    t.match(refused, { error: { code: 'unauthorized' } }, 'the reason is asked for with the pin as well');
  },
);

/** A server over TLS that records all bytes after the handshake. */
async function serveTls(t: Test, { cert, key }: { readonly cert: string; readonly key: string }) {
  const seen = { connections: 0, bytes: 0 };
  const server = tls.createServer({ cert, key }, (socket) => {
    socket.on('data', (bytes) => {
      seen.bytes += bytes.length;
    });
    socket.on('error', () => undefined);
  });
  server.on('connection', () => seen.connections++);
  server.on('tlsClientError', () => undefined);
  return { seen, url: `https://127.0.0.1:${await listen(t, server)}` };
}

t.test('[8.tls-pin-wrong] a server with another key is sent nothing', async (t) => {
  const { pin } = await makePair();
  const { seen, url } = await serveTls(t, await makePair());
  const options = { url, key: KEY, pin };
  await t.rejects(request('/api/pw/sleep', { ...options, body: {} }), { code: 'wrong_certificate' });
  const waiting = (watch: (onState: (state: ConnectionState) => void) => { close(): void }) =>
    new Promise<ConnectionState>((resolve) => {
      const open = watch((state) => state.state === 'waiting' && resolve(state));
      t.teardown(() => open.close());
    });
  const wanted = { state: 'waiting', error: { code: 'wrong_certificate' } };
  t.match(
    await waiting((onState) => streamStats({ ...options, onSample: () => undefined, onState })),
    wanted,
  );
  t.match(
    await waiting((onState) => {
      const socket = connect(options);
      socket.on('state', onState);
      return socket;
    }),
    wanted,
  );
  t.ok(seen.connections >= 3, `${seen.connections} connections`);
  t.equal(seen.bytes, 0);
});

t.test('[8.tls-pin-misuse] a pin needs https, its form, and Node', async (t) => {
  const pin = `sha256/${'A'.repeat(43)}=`;
  const stream = (url: string, given: string) => streamStats({ url, pin: given, onSample: () => undefined });
  t.throws(() => stream('http://pc:9990', pin), TypeError);
  for (const bad of ['', 'sha256/', `sha1/${'A'.repeat(43)}=`, `sha256/${'A'.repeat(44)}`, pin.slice(7)])
    t.throws(() => stream('https://pc:9990', bad), TypeError, bad);
  t.throws(() => connect({ url: 'http://pc', pin }), TypeError);
  await t.rejects(request('/', { url: 'http://pc', pin }), TypeError);
  const { process } = globalThis;
  // As in a page.
  Object.assign(globalThis, { process: undefined });
  let error: unknown;
  try {
    stream('https://pc:9990', pin);
  } catch (caught) {
    error = caught;
  } finally {
    Object.assign(globalThis, { process });
  }
  t.match(error, { code: 'no_pinning', message: /^a pin works on Node only/ });
});

t.test('[8.tls-pin-late] nothing of Node is loaded without a pin', async (t) => {
  const text = readFileSync(path.join(ROOT, 'dist/client/client.js'), 'utf8');
  t.notMatch(text, /['"]node:|['"]ws['"]/);
  t.match(readFileSync(path.join(ROOT, 'dist/client/pinned.js'), 'utf8'), /from "node:tls"/);
  const { makePair: make } = await import('../helpers/certificates.ts');
  const { url } = await serveTls(t, await make());
  // The built one, which users import.
  const name: string = 'hostwire/client';
  const built = (await import(name)) as { request: typeof request };
  const pin = `sha256/${'A'.repeat(43)}=`;
  await t.rejects(built.request('/', { url, pin }), { code: 'wrong_certificate' });
});
