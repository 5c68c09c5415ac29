/** Two hubs behind the shipped haproxy.cfg: one hub per machine, streams and sockets through it, and a hub that goes away. */
import https from 'node:https';
import t, { type Test } from 'tap';
import WebSocket from 'ws';
import { NO_BROKER, startBroker } from '../../../exporters/mqtt/broker.ts';
import { makePair } from '../../../helpers/certificates.ts';
import { findFreePort } from '../../../helpers/service/free-port.ts';
import { until } from '../../../helpers/until.ts';
import { BrokerMachine, brokerPart } from '../../broker/setup.ts';
import { isUp, type StartedHub, startHub } from '../../setup.ts';
import { NO_HAPROXY, startHaproxy } from '../proxy.ts';

t.setTimeout(280_000);

const IDS = Array.from({ length: 8 }, (_, i) => `machine-${i}`);
const SAMPLE = { timestamp: 1, uptime: 2, cpu: { a: 1 }, memory: { b: 2 } };

/** Machines that a test plays, which send samples while one is wanted. */
async function startMachines(t: Test, url: string): Promise<readonly BrokerMachine[]> {
  const all = await Promise.all(IDS.map((id) => BrokerMachine.start(t, url, id)));
  const timer = setInterval(() => all.forEach(({ machine }) => machine.sample(SAMPLE)), 200);
  t.teardown(() => clearInterval(timer));
  return all;
}

interface Place {
  readonly port: number;
  readonly ca: string;
}

/** Opens a stream and collects its text; rejects if it is refused. */
async function openStream(t: Test, { port, ca }: Place, path: string): Promise<{ text: string }> {
  const seen = { text: '' };
  await new Promise<void>((resolve, reject) => {
    const request = https.get({ host: '127.0.0.1', port, ca, path, agent: false }, (answer) => {
      t.teardown(() => answer.destroy());
      answer.on('error', () => undefined);
      answer.setEncoding('utf8').on('data', (part: string) => {
        seen.text += part;
      });
      if (answer.statusCode === 200) resolve();
      else answer.once('end', () => reject(new Error(`${path}: ${answer.statusCode} ${seen.text}`)));
    });
    request.on('error', reject);
  });
  return seen;
}

/** A socket that follows the processor of a machine, until it has a sample. */
async function followBySocket(t: Test, { port, ca }: Place, id: string): Promise<void> {
  const socket = new WebSocket(`wss://127.0.0.1:${port}/api/hosts/${id}/ws`, { ca });
  t.teardown(() => socket.terminate());
  const messages: string[] = [];
  socket.on('message', (data) => messages.push(String(data)));
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  socket.send('{"op":"subscribe","data":{"topics":["stats.cpu"]}}');
  await until(() => messages.find((text) => text.includes('"cpu":{"a":1}')));
}

const skip = NO_BROKER || NO_HAPROXY;

t.test('[I.hub.haproxy] all viewers of a machine have one hub', { skip }, async (t) => {
  const broker = await startBroker(t);
  const agents = await startMachines(t, broker.url);
  const server = { trusted_proxies: ['127.0.0.1'] };
  const hubs = new Map<string, StartedHub>();
  for (const name of ['hub1', 'hub2'])
    hubs.set(name, await startHub(t, {}, { server, ...brokerPart(broker.url, {}, { name }) }));
  for (const hub of hubs.values()) for (const id of IDS) await hub.host(id, isUp);
  const pair = await makePair();
  const nobody = await findFreePort();
  const brokers = [1, 2, 3].map(() => ({ port: nobody, healthPort: nobody }));
  const ports = [...hubs.values()].map(({ port }) => port);
  const { port } = await startHaproxy(t, { hubs: ports, brokers }, pair);
  const place = { port, ca: pair.cert };

  for (const id of IDS)
    for (const fields of ['cpu', 'memory', 'cpu,memory'])
      await openStream(t, place, `/api/hosts/${id}/stream?fields=${fields}`);
  for (const agent of agents) await until(() => agent.wanting.size > 0);
  await followBySocket(t, place, 'machine-0');
  const chosen = agents.map(({ wanting }) => [...wanting]);
  t.ok(
    chosen.every(({ length }) => length === 1),
    JSON.stringify(chosen),
  );
  t.same([...new Set(chosen.flat())].sort(), ['hub1', 'hub2'], 'and both hubs have some');

  const gone = chosen[0]?.[0] ?? '';
  await hubs.get(gone)?.stop();
  const path = '/api/hosts/machine-0/stream?fields=cpu';
  const again = await until(async () => await openStream(t, place, path).catch(() => undefined));
  await until(() => again.text.includes('"cpu":{"a":1}'));
  t.equal(agents[0]?.wanting.size, 2, 'the other hub has its machines');
});
