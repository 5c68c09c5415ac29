/**
 * Machines behind a broker by docs/websocket.md, each with a connection, a user and a last will of its own:
 *   mqtt-agents PORT COUNT    prints `ready`, then for each line of its standard input its counters as JSON
 * They have the ids h0, h1, … and the passwords of passwords.ts.
 */
import net from 'node:net';
import process from 'node:process';
import readline from 'node:readline';
import mqtt from 'mqtt';
import { Joiner, payloadOf, readPayload } from '../../broker/frames.ts';
import { counters, Machine } from './machine.ts';
import { passwordOf } from './passwords.ts';
import { Session } from './session.ts';

const [port = 0, count = 0] = process.argv.slice(2).map(Number);
/** Delay between two starts, so that the figures do not include a thousand simultaneous logins. */
const PACE_MS = 3;

const more = { online: 0, ended: 0, refused: 0 };
const refused = () => void more.refused++;

const RUN = Math.random().toString(16).slice(2);

/** The session of one hub: its payloads are numbered in each direction. */
interface Open {
  readonly name: string;
  readonly joiner: Joiner;
  readonly session: Session;
}

function startAgent(id: string): void {
  const base = `hostwire/${id}`;
  const machine = new Machine();
  const open = new Map<string, Open>();
  const statusOf = (state: string) =>
    JSON.stringify({
      state,
      run: RUN,
      name: 'simulated',
      labels: { site: 'test' },
      version: '0.0.0-simulated',
    });
  const state = { topic: `${base}/status`, qos: 1, retain: true } as const;
  const client = new mqtt.MqttClient(() => net.connect({ port, host: '127.0.0.1', noDelay: true }), {
    protocolVersion: 4,
    clientId: `hostwire-${id}`,
    username: id,
    password: passwordOf(id),
    keepalive: 30,
    reconnectPeriod: 0,
    queueQoSZero: false,
    will: { ...state, payload: Buffer.from(statusOf('offline')) },
  });
  const end = (hub: string) => {
    open.get(hub)?.session.end();
    open.delete(hub);
  };
  const begin = (hub: string, name: string) => {
    end(hub);
    let sent = 0;
    const send = (text: string) =>
      client.publish(`${base}/out/${hub}`, payloadOf(name, sent++, text), { qos: 0 });
    open.set(hub, { name, joiner: new Joiner(name), session: new Session(id, RUN, machine, send) });
  };
  const take = (hub: string, bytes: Buffer) => {
    const payload = readPayload(bytes);
    if (payload === undefined) return;
    if (payload.number === 0 && payload.bytes.length === 0) begin(hub, payload.session);
    const known = open.get(hub);
    if (known?.name !== payload.session) return;
    const frame = payload.number === undefined ? 'gap' : known.joiner.take(payload);
    if (frame === 'gap') end(hub);
    else if (frame !== undefined && frame.length > 0) known.session.take(frame.toString());
  };
  client
    .on('error', refused)
    .on('close', () => {
      more.ended++;
      for (const hub of [...open.keys()]) end(hub);
    })
    .on('connect', () => {
      const subscribed = client.subscribeAsync(`${base}/in/+`, { qos: 0 });
      Promise.all([subscribed, client.publishAsync(state.topic, statusOf('online'), state)]).then(() => {
        if (++more.online === count) console.log('ready');
      }, refused);
    })
    .on('message', (topic, payload) => take(topic.split('/').at(-1) ?? '', payload));
}

for (let i = 0; i < count; i++) setTimeout(() => startAgent(`h${i}`), i * PACE_MS);
readline
  .createInterface(process.stdin)
  .on('line', () => console.log(JSON.stringify({ ...counters, ...more })));
