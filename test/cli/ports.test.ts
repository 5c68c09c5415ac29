/** Why a port cannot be listened on: asked of the kernel and the resolver. */
import { writeFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import process from 'node:process';
import t from 'tap';
import { findPortProblem, isStillLocal } from '#src/cli/ports.js';
import { makePair, writePair } from '../helpers/certificates.ts';
import { listen } from '../helpers/clients/listen.ts';
import { findFreePort } from '../helpers/service/free-port.ts';
import { runToEnd } from '../helpers/service/service.ts';
import { checkRecognised } from './port-row.ts';

t.test('[9.port-cause] in use, and by which process', async (t) => {
  const port = await listen(t, net.createServer());
  const problem = await findPortProblem('127.0.0.1', port);
  t.match(problem?.reason, new RegExp(`^already in use by process ${process.pid} \\(`));
  const { code, stderr } = await runToEnd(['--host', '127.0.0.1', '--port', String(port)]);
  t.equal(code, 1);
  t.match(
    stderr,
    new RegExp(`cannot listen on port ${port} of 127\\.0\\.0\\.1: already in use by process ${process.pid}`),
  );
});

t.test('[9.port-cause] the port for HTTPS is named by its own key', async (t) => {
  const port = await listen(t, net.createServer());
  const folder = t.testdir();
  writePair(folder, await makePair());
  const tls = { cert: path.join(folder, 'cert.pem'), key: path.join(folder, 'key.pem'), port };
  const file = path.join(folder, 'config.json');
  writeFileSync(file, JSON.stringify({ server: { host: '127.0.0.1', port: await findFreePort(), tls } }), {
    mode: 0o600,
  });
  const { code, stderr } = await runToEnd([], { file });
  t.equal(code, 1);
  t.match(stderr, /or set server\.tls\.port to another port/);
});

t.test('[9.port-cause] by hostwire itself, wherever it listens', async (t) => {
  for (const host of ['127.0.0.1', '127.0.0.9']) await checkRecognised(t, host);
});

t.test('[9.port-cause] by hostwire itself, over HTTPS alone', async (t) => {
  const folder = t.testdir();
  // The certificate is for a name that this machine does not have.
  writePair(folder, await makePair({ name: 'pc.example.org' }));
  await checkRecognised(t, '127.0.0.1', {
    HOSTWIRE_SERVER_TLS_CERT: path.join(folder, 'cert.pem'),
    HOSTWIRE_SERVER_TLS_KEY: path.join(folder, 'key.pem'),
  });
});

t.test('[9.port-cause] by a program that answers with something else, or never', async (t) => {
  for (const answer of ['HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok', '']) {
    const server = net.createServer((socket) => socket.on('error', () => socket.destroy()).write(answer));
    const problem = await findPortProblem('127.0.0.1', await listen(t, server));
    t.match(problem, { reason: /^already in use by process / });
  }
});

t.test('[9.port-cause] no address of this machine, and no known name', async (t) => {
  // TEST-NET-1 (RFC 5737) and .invalid (RFC 6761).
  t.match(await findPortProblem('192.0.2.1', 0), { reason: '"192.0.2.1" is not an address of this machine' });
  t.match(await findPortProblem('hostwire.invalid', 0), {
    reason: '"hostwire.invalid" is not a known host name',
  });
  const { code, stderr } = await runToEnd(['--host', '192.0.2.1', '--port', '9990']);
  t.equal(code, 1);
  t.match(stderr, /"192\.0\.2\.1" is not an address of this machine; set server\.host to/);
  t.equal(await findPortProblem('127.0.0.1', await findFreePort()), undefined);
});

t.test(
  '[9.doctor-restart] a service that listens on the loopback address still is found, and one that does not',
  async (t) => {
    const serve = (host: string) =>
      listen(
        t,
        http.createServer((_, response) => response.end('{"status":"ok"}')),
        host,
      );
    const [local, everywhere] = [await serve('127.0.0.1'), await serve('0.0.0.0')];
    t.equal(await isStillLocal({ host: '::', port: local }), true);
    t.equal(await isStillLocal({ host: '127.0.0.3', port: local }), false, 'as the configuration says');
    t.equal(await isStillLocal({ host: '0.0.0.0', port: everywhere }), false);
    t.equal(await isStillLocal({ host: '::', port: await findFreePort() }), false, 'nothing runs');
    const { stdout } = await runToEnd(['doctor', '--host', '0.0.0.0', '--port', `${local}`]);
    t.match(
      stdout,
      /^port +partly .*\n +why: the running service still listens on 127\.0\.0\.1\n +try: restart the service$/m,
    );
  },
);
