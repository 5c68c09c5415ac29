/** Two hubs behind the shipped haproxy.cfg: one hub per machine, streams and sockets through it, and a hub that goes away. */
import https from 'node:https';
import t from 'tap';
import WebSocket from 'ws';
import { NO_BROKER, startBroker } from '../../exporters/mqtt/broker.ts';
import { makePair } from '../../helpers/certificates.ts';
import { findFreePort } from '../../helpers/service/free-port.ts';
import { brokerPart, PlayedAgent } from '../broker/setup.ts';
import { isUp, startHub, until } from '../setup.ts';
import { NO_HAPROXY, startHaproxy } from './proxy.ts';

t.setTimeout(280_000);

const IDS = Array.from({ length: 8 }, (_, i) => `machine-${i}`);
const LINES = ['"timestamp":1,"uptime":2', '"cpu":{"a":1}', '"memory":{"b":2}'];
const HEAD = { plain: ['cpu', 'memory'] };

/** The names of the hubs that want samples of this agent. */
const wanting = ({ wants }: PlayedAgent) =>
  new Set(wants.filter((text) => text.includes('sections')).map((text) => JSON.parse(text).hub as string));

t.test(
  '[I.hub.haproxy] all viewers of a machine have one hub',
  { skip: NO_BROKER || NO_HAPROXY },
  async (t) => {
    const broker = await startBroker(t);
    const agents = await Promise.all(
      IDS.map(async (id) => {
        const agent = await PlayedAgent.start(t, broker.url, id);
        // As an agent answers a lease.
        agent.client.on('message', (topic) => {
          if (topic.endsWith('/want')) agent.sample(LINES, HEAD).catch(() => undefined);
        });
        return agent;
      }),
    );
    const server = { trusted_proxies: ['127.0.0.1'] };
    const startOne = async (name: string) =>
      await startHub(t, {}, { server, ...brokerPart(broker.url, {}, { name }) });
    const hubs = [await startOne('hub1'), await startOne('hub2')];
    for (const hub of hubs) for (const id of IDS) await hub.host(id, isUp);
    const pair = await makePair();
    const nobody = await findFreePort();
    const ports = hubs.map(({ port }) => port);
    const brokers = [1, 2, 3].map(() => ({ port: nobody, healthPort: nobody }));
    const proxy = await startHaproxy(t, { hubs: ports, brokers }, pair);
    const target = (path: string) => ({ host: '127.0.0.1', port: proxy.port, path, ca: pair.cert });

    /** What came of a stream until now. */
    const open = async (path: string) => {
      const seen = { text: '', isEnded: false };
      await new Promise<void>((resolve, reject) => {
        const request = https.get({ ...target(path), agent: false }, (answer) => {
          t.teardown(() => answer.destroy());
          answer.setEncoding('utf8').on('data', (part: string) => {
            seen.text += part;
          });
          answer
            .on('error', () => undefined)
            .on('close', () => {
              seen.isEnded = true;
            });
          if (answer.statusCode === 200) resolve();
          else
            answer.once('end', () =>
              reject(new Error(`${path}: ${answer.statusCode} ${seen.text} ${proxy.log()}`)),
            );
        });
        request.on('error', reject);
      });
      return seen;
    };

    for (const id of IDS)
      for (const fields of ['cpu', 'memory', 'cpu,memory'])
        await open(`/api/hosts/${id}/stream?fields=${fields}`);
    for (const agent of agents) await until(() => (wanting(agent).size > 0 ? true : undefined));
    const chosen = agents.map((agent) => [...wanting(agent)]);
    t.ok(
      chosen.every(({ length }) => length === 1),
      JSON.stringify(chosen),
    );
    t.same([...new Set(chosen.flat())].sort(), ['hub1', 'hub2'], 'and both hubs have some');

    const socket = new WebSocket(`wss://127.0.0.1:${proxy.port}/api/hosts/machine-0/ws`, { ca: pair.cert });
    t.teardown(() => socket.terminate());
    const messages: string[] = [];
    socket.on('message', (data) => messages.push(String(data)));
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    socket.send('{"op":"subscribe","data":{"topics":["stats.cpu"]}}');
    await until(() => messages.find((text) => text.includes('"subscribed"')));
    const [first] = agents;
    await until(() => messages.find((text) => text.includes('"cpu":{"a":1}')));

    const gone = chosen[0]?.[0];
    const left = hubs[gone === 'hub1' ? 1 : 0];
    const before = first === undefined ? 0 : first.wants.length;
    await hubs[gone === 'hub1' ? 0 : 1]?.stop();
    const again = await until(
      async () => await open('/api/hosts/machine-0/stream?fields=cpu').catch(() => undefined),
    );
    await until(() =>
      first?.wants.slice(before).some((text) => JSON.parse(text).hub !== gone) ? true : undefined,
    );
    await until(() => (again.text.includes('"cpu":{"a":1}') ? true : undefined));
    t.ok(left !== undefined && !again.isEnded, 'the other hub has its machines');
  },
);
