/**
 * Agents behind a broker by docs/hub-protocol.md, each with a connection, a user and a last will of its own:
 *   mqtt-agents PORT COUNT    prints `ready`, then for each line of its standard input its counters as JSON
 * They have the ids h0, h1, … and the passwords of passwords.ts. Of questions they answer that for the clock; they have no
 * commands.
 */
import net from 'node:net';
import process from 'node:process';
import readline from 'node:readline';
import mqtt from 'mqtt';
import { counters } from './machine.ts';
import { passwordOf } from './passwords.ts';
import { Reporter } from './reporter.ts';

const [port = 0, count = 0] = process.argv.slice(2).map(Number);
/** Delay between two starts, so that the figures do not include a thousand simultaneous logins. */
const PACE_MS = 3;

const more = { online: 0, ended: 0, refused: 0 };
const refused = () => void more.refused++;

function startAgent(id: string): Reporter {
  const base = `hostwire/${id}/hub`;
  const reporter = new Reporter((topic, payload) =>
    client.publish(`${base}/${topic}`, payload, { qos: topic === 'sample' ? 0 : 1 }),
  );
  const state = { topic: `${base}/status`, qos: 1, retain: true } as const;
  const client = new mqtt.MqttClient(() => net.connect({ port, host: '127.0.0.1', noDelay: true }), {
    protocolVersion: 4,
    clientId: `hostwire-${id}`,
    username: id,
    password: passwordOf(id),
    keepalive: 30,
    reconnectPeriod: 0,
    queueQoSZero: false,
    will: { ...state, payload: Buffer.from(reporter.status('offline', {})) },
  });
  client
    .on('error', refused)
    .on('close', () => {
      more.ended++;
      reporter.rest();
    })
    .on('connect', () => {
      const status = { version: '0.0.0-simulated', protocol: 1, name: 'simulated', labels: { site: 'test' } };
      const online = reporter.status('online', status);
      const subscribed = client.subscribeAsync([`${base}/want`, `${base}/cmd/#`], { qos: 0 });
      Promise.all([subscribed, client.publishAsync(state.topic, online, state)]).then(() => {
        if (++more.online === count) console.log('ready');
      }, refused);
    })
    .on('message', (topic, payload, { retain }) => {
      if (!retain) reporter.take(topic.slice(base.length + 1), payload.toString());
    });
  return reporter;
}

const reporters: Reporter[] = [];
for (let i = 0; i < count; i++) setTimeout(() => reporters.push(startAgent(`h${i}`)), i * PACE_MS);
setInterval(() => reporters.forEach((reporter) => reporter.expire()), 1000);
readline
  .createInterface(process.stdin)
  .on('line', () => console.log(JSON.stringify({ ...counters, ...more })));
