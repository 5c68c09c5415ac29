/** HTTPS: versions, streams and sockets over it, two ports, the web guard, and a new certificate while streams are open. */
import '../helpers/service/dead-buses.ts';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import type tls from 'node:tls';
import t from 'tap';
import { makePair } from '../helpers/certificates.ts';
import { EventStream, payloadOf } from '../helpers/clients/event-stream.ts';
import { ask, RawConnection, requestBytes } from '../helpers/clients/http.ts';
import { SocketClient } from '../helpers/clients/socket.ts';
import { createEngine } from '../helpers/service/engine.ts';
import { startSecure } from '../helpers/service/secure.ts';
import { until } from '../helpers/until.ts';

const STREAMS = process.env['HOSTWIRE_FULL'] === '1' ? 1000 : 50;

t.test('[8.tls-versions] TLS 1.2 and 1.3 are spoken, older versions refused', async (t) => {
  const { securePort } = await startSecure(t);
  const speak = (version: tls.SecureVersion) =>
    RawConnection.openSecure(securePort, {
      minVersion: version,
      maxVersion: version,
      // Without it this side's OpenSSL refuses the old versions itself.
      ciphers: 'DEFAULT@SECLEVEL=0',
    });
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const connection = await speak(version);
    connection.write(requestBytes('/api/status'));
    t.equal((await connection.readAnswer()).status, 200, version);
    connection.destroy();
  }
  for (const version of ['TLSv1', 'TLSv1.1'] as const)
    await t.rejects(speak(version), /alert protocol version|unsupported protocol/i, version);
});

t.test('[8.tls] requests, bodies, streams and WebSockets over TLS', async (t) => {
  const { connect, securePort } = await startSecure(t);
  const connection = await connect();
  connection.write(requestBytes('/api/usage?detail=1'));
  t.ok((await connection.readAnswer()).body.length > 100);
  connection.write(requestBytes('/api/nothing'));
  t.equal((await connection.readAnswer()).status, 404, 'the connection is kept');
  const body = JSON.stringify({ action: 'play' });
  const headers = { 'Content-Type': 'application/json' };
  connection.write(requestBytes('/api/media/control', { method: 'POST', headers, body }));
  t.equal((await connection.readAnswer('POST')).status, 200);
  connection.write(requestBytes('/api/pw/sleep', { method: 'POST' }));
  t.same(JSON.parse(String((await connection.readAnswer('POST')).body)), {
    status: 'ok',
    message: 'Command initiated',
  });
  const power = await connect();
  const recorded = async () => {
    power.write(requestBytes('/api/pw'));
    return (JSON.parse(String((await power.readAnswer()).body)) as { recorded: unknown[] }).recorded;
  };
  await until(async () => (await recorded()).length !== 0);
  const stream = await EventStream.over(await connect());
  t.ok(payloadOf(await stream.next())['cpu']);
  const socket = await SocketClient.open(securePort, { isSecure: true });
  socket.say('subscribe', { topics: ['stats.cpu'] });
  t.ok((await socket.take('system_stats')).data['cpu']);
  socket.cut();
});

t.test('[1.tls-connections] connections over TLS are counted until they close', async (t) => {
  const { folder } = await startSecure(t);
  const read = (name: string) => {
    const file = path.join(folder, name);
    return { path: file, pem: readFileSync(file, 'utf8') };
  };
  const engine = await createEngine({ headersRead: new Set(), onRequest: () => undefined });
  t.teardown(() => engine.close());
  const port = await engine.listen('127.0.0.1', 0, { cert: read('cert.pem'), key: read('key.pem') });
  const [secure, silent, wrong] = await Promise.all([
    RawConnection.openSecure(port),
    RawConnection.open(port),
    RawConnection.open(port),
  ]);
  await until(() => engine.connections === 3);
  wrong.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await wrong.closed();
  await until(() => engine.connections === 2);
  secure.destroy();
  silent.destroy();
  await until(() => engine.connections === 0);
  t.pass('a failed handshake, none, and a complete one');
});

t.test('[8.tls-port] with server.tls.port there are two ports, without it only HTTPS', async (t) => {
  const both = await startSecure(t);
  t.not(both.port, both.securePort);
  t.equal((await ask(both.port, '/api/status')).status, 200);
  const only = await startSecure(t, {}, false);
  t.equal(only.port, only.securePort);
  t.equal(only.baseUrl.startsWith('https://'), true);
});

t.test('[8.tls-plain] plain HTTP to the port of HTTPS gets a 400 that says so, and no data', async (t) => {
  const { securePort } = await startSecure(t);
  for (const method of ['GET', 'POST']) {
    const plain = await RawConnection.open(securePort);
    plain.write(requestBytes('/api/usage', { method, ...(method === 'POST' && { body: '{}' }) }));
    const { status, body } = await plain.readAnswer(method);
    t.equal(status, 400);
    t.same(JSON.parse(String(body)), {
      error: 'This port speaks HTTPS: the address must begin with https://.',
      code: 'bad_request',
    });
    await plain.closed();
  }
  const noise = await RawConnection.open(securePort);
  noise.write('no TLS, and no HTTP\r\n\r\n');
  await noise.closed();
  t.equal(noise.rest.length > 0 && noise.rest.toString('latin1').startsWith('HTTP'), false);
});

t.test('[1.step4-origin-tls] over TLS an own page is one of https', async (t) => {
  const { port, securePort, connect } = await startSecure(t);
  const statusOf = async (isSecure: boolean, host: string, origin: string) => {
    const connection = isSecure ? await connect() : await RawConnection.open(port);
    connection.write(requestBytes('/api/usage', { headers: { Host: host, Origin: origin } }));
    const { status } = await connection.readAnswer();
    connection.destroy();
    return status;
  };
  const secureHost = `localhost:${securePort}`;
  t.equal(await statusOf(true, secureHost, `https://${secureHost}`), 200);
  t.equal(await statusOf(true, secureHost, `http://${secureHost}`), 403, 'a page of plain HTTP');
  t.equal(await statusOf(true, 'localhost', 'https://localhost'), 200, 'the standard port of https');
  t.equal(await statusOf(true, 'localhost:443', 'https://localhost'), 200);
  t.equal(await statusOf(true, 'localhost', 'http://localhost'), 403);
  t.equal(await statusOf(true, 'localhost:80', 'http://localhost'), 403);
  t.equal(await statusOf(true, secureHost, `http://localhost:${port}`), 403, "the other port's page");
  t.equal(await statusOf(false, `localhost:${port}`, `http://localhost:${port}`), 200);
  t.equal(
    await statusOf(false, `localhost:${port}`, `https://${secureHost}`),
    403,
    'and the other way round',
  );
});

t.test('[8.tls-swap] a new certificate: open streams miss nothing, new connections get it', async (t) => {
  const service = await startSecure(t, {
    stats: { stream_interval_seconds: 1 },
    server: { max_connections_per_address: 0, max_streams_per_address: 0 },
  });
  const { pair, connect, renew, securePort, port, stderr } = service;
  const witness = await EventStream.openIn(t, port);
  const streams = await Promise.all(
    Array.from({ length: STREAMS }, async () => EventStream.over(await connect())),
  );
  const sockets = await Promise.all([0, 1].map(() => SocketClient.open(securePort, { isSecure: true })));
  for (const socket of sockets) socket.say('subscribe', { topics: ['stats'] });
  const next = await makePair({ name: 'renewed' });
  const pins = async () => {
    const open = [{}, { servername: 'localhost' }].map((more) => RawConnection.openSecure(securePort, more));
    const connections = await Promise.all(open);
    const found = connections.map((connection) => connection.pin);
    for (const connection of connections) connection.destroy();
    return found;
  };
  t.same(await pins(), [pair.pin, pair.pin], 'by address and by name');
  // The tick after the first event may be left out for a new stream.
  for (const stream of streams) await until(() => stream.count() >= 2);
  const before = witness.count();
  renew(next);
  await until(() => stderr().includes('new connections use the certificate in'));
  t.same(await pins(), [next.pin, next.pin]);
  await until(() => witness.count() > before + 3);
  const newest = (await EventStream.over(await connect())).next().then(({ text }) => text);
  const wanted = witness.events.map(({ text }) => text);
  const last = wanted.at(-1) ?? '';
  t.equal(await newest, last, 'a new stream has the same samples');
  for (const stream of streams) {
    await until(() => stream.count() > 0 && stream.events.some(({ text }) => text === last));
    const got = stream.events.map(({ text }) => text);
    const from = wanted.indexOf(got[1] ?? '');
    t.same(got.slice(1, got.indexOf(last) + 1), wanted.slice(from), 'each event once, in order');
  }
  for (const socket of sockets) {
    const timeOf = (text: string) =>
      (JSON.parse(text.slice('data: '.length)) as { timestamp: number }).timestamp;
    await socket.take(
      ({ type, data }) => type === 'system_stats' && Number(data['timestamp']) >= timeOf(last),
    );
  }
  const closed = sockets.map((socket) => socket.closed);
  const ended = streams.map((stream) => stream.ended());
  await service.stop();
  t.same(
    (await Promise.all(closed)).map(({ code }) => code),
    [1001, 1001],
    'earlier sockets are closed in order',
  );
  await Promise.all(ended);
  t.ok(
    streams.every(({ isEnded, partial }) => isEnded && partial === ''),
    'and streams on a frame boundary',
  );
});

t.test('[8.tls-swap-refused] a pair that the engine refuses leaves the old one in use', async (t) => {
  const { pair, connect, renew, stderr } = await startSecure(t);
  renew({ ...pair, key: (await makePair()).key });
  await until(() => stderr().includes('the certificate was not renewed; the old one stays in use: '));
  t.equal((await connect()).pin, pair.pin);
});
