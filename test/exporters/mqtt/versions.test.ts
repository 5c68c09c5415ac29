/** Brokers that speak an older version, and one that refuses. */
import net from 'node:net';
import t from 'tap';
import { listen } from '../../helpers/clients/listen.ts';
import { until } from '../../helpers/until.ts';
import { mqttPart, startBeside } from './broker.ts';

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
