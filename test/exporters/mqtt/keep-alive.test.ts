/** Brokers that say nothing, speak an older version, or refuse. */
import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { KeepAlive } from '#src/mqtt/keep-alive.js';
import { listen } from '../../helpers/clients/listen.ts';
import { until } from '../../helpers/until.ts';
import { mqttPart, startBeside } from './broker.ts';

const ANSWER_MS = 50;

t.test('[3.mqtt-pulse] a broker that does not answer is given up, once', async (t) => {
  const keepAlive = new KeepAlive(ANSWER_MS);
  let [asked, ends] = [0, 0];
  const check = () =>
    keepAlive.check(
      () => asked++,
      () => ends++,
    );
  check();
  check();
  t.equal(asked, 1, 'one question at a time');
  await until(() => ends === 1, 'given up');
  keepAlive.stop();
  await sleep(2 * ANSWER_MS);
  t.equal(ends, 1);
});

t.test('[3.mqtt-pulse] any byte is an answer, also one that is read after the time for it', async (t) => {
  const keepAlive = new KeepAlive(ANSWER_MS);
  let ends = 0;
  const check = () =>
    keepAlive.check(
      () => undefined,
      () => ends++,
    );
  check();
  const before = keepAlive.quietMs;
  await sleep(ANSWER_MS / 2);
  const quietMs = keepAlive.quietMs;
  t.ok(quietMs > before);
  keepAlive.heard();
  t.ok(keepAlive.quietMs < quietMs);
  // This process stands still: the timer is due, and the answer is read right after.
  const server = net.createServer((socket) => socket.on('data', () => keepAlive.heard()));
  const peer = net.connect(await listen(t, server), '127.0.0.1');
  t.teardown(() => peer.destroy());
  // Both ends: what is written before this end has connected leaves later, with the next events of the kernel.
  await Promise.all([once(server, 'connection'), once(peer, 'connect')]);
  check();
  peer.write('x');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * ANSWER_MS);
  await sleep(2 * ANSWER_MS);
  t.equal(ends, 0);
});

t.test('[3.mqtt-versions] a broker that speaks only 3.1.1 is asked with it', async (t) => {
  for (const refusal of [Buffer.from([0x20, 2, 0, 1]), undefined]) {
    const levels: number[] = [];
    const server = net.createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', (bytes) => {
        // The fixed head, the length (2 bytes), the name of the protocol (6 bytes), then its level.
        const level = bytes[bytes.indexOf('MQTT') + 4] ?? 0;
        levels.push(level);
        if (level === 4) socket.write(Buffer.from([0x20, 2, 0, 0]));
        else if (refusal === undefined) socket.end();
        else socket.end(refusal);
      });
    });
    const { service } = await startBeside(t, {
      mqtt: mqttPart(`mqtt://127.0.0.1:${await listen(t, server)}`),
    });
    await until(() => /connected to .*3\.1\.1/.test(service.stderr()), 'version 3.1.1');
    t.same(levels, [5, 4], refusal === undefined ? 'closed at once' : 'refused');
  }
});

t.test('[3.mqtt-refused] the reason of a refusal is logged', async (t) => {
  // CONNACK of MQTT 5: no session, "bad user name or password", no properties.
  const server = net.createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(Buffer.from([0x20, 3, 0, 0x86, 0])));
  });
  const { service } = await startBeside(t, { mqtt: mqttPart(`mqtt://127.0.0.1:${await listen(t, server)}`) });
  await until(() => service.stderr().includes('cannot connect to'), 'a refusal');
  t.match(
    service.stderr(),
    /mqtt: cannot connect to mqtt:[^ ]+ \(Connection refused: Bad User Name or Password/i,
  );
});
