/** The shipped files of packaging/mqtt: three nats-servers as one broker, and the server of a site, with Debian's program. */
import { rmSync } from 'node:fs';
import type { Config } from '#src/config/config.js';
import { Broker, mqttPart, natsKind, Witness } from '../../exporters/mqtt/broker.ts';
import { makePair, type TestPair } from '../../helpers/certificates.ts';
import { ask } from '../../helpers/clients/http.ts';
import type { Scope } from '../../helpers/scope.ts';
import { findFreePort } from '../../helpers/service/free-port.ts';
import { until } from '../../helpers/until.ts';
import { brokerPart, EVERYTHING } from '../broker/setup.ts';
import { type StartedHub, startHub } from '../setup.ts';
import { edited, type Replacement, shipped } from './shipped.ts';

const PASSWORDS = {
  pc: 'pc-password-1',
  nas: 'nas-password-1',
  hub1: 'hub1-password-1',
  hub2: 'hub2-password-1',
  site: 'site-password-1',
};
export type User = keyof typeof PASSWORDS;

export interface Authority {
  readonly ca: TestPair;
  readonly server: TestPair;
}

/** An authority of a test, and the certificate that all servers of it have. */
export async function makeAuthority(): Promise<Authority> {
  const ca = await makePair({ name: 'test authority', isIssuer: true });
  return { ca, server: await makePair({ issuer: ca }) };
}

/** Settings of a broker's client besides the URL. */
export const credentials = (username: User, ca: TestPair) => ({
  username,
  password_file: { path: 'password', secret: PASSWORDS[username] },
  ca: { path: 'ca.pem', pem: ca.cert },
});

export const agentPart = (port: number, username: User, ca: TestPair): Config['mqtt'] =>
  mqttPart(`mqtts://127.0.0.1:${port}`, { publish: 'hub', ...credentials(username, ca) });

/** A hub at the broker on `port`; its name is that of its user. */
export const startClusterHub = async (
  t: Scope,
  port: number,
  username: User,
  ca: TestPair,
  times: Parameters<typeof startHub>[3] = {},
): Promise<StartedHub> => {
  const config = brokerPart(`mqtts://127.0.0.1:${port}`, EVERYTHING, credentials(username, ca));
  return await startHub(t, {}, config, times);
};

const ENV = Object.fromEntries(
  Object.entries(PASSWORDS).map(([user, password]) => [`HOSTWIRE_${user.toUpperCase()}_PASSWORD`, password]),
);

/** A server with a shipped file; `replacements` beside the folder of its certificates, which @ stands for. */
async function makeServer(
  t: Scope,
  [file, users]: readonly [file: string, users: string],
  replacements: (mqttPort: number) => readonly Replacement[],
  { ca, server }: Authority,
  env: Readonly<Record<string, string>>,
): Promise<Broker> {
  const own = await findFreePort();
  const broker = new Broker(await findFreePort(), [], {
    ...natsKind(own),
    configOf: (port) => [
      edited(shipped(`mqtt/${file}`), [
        ['"127.0.0.1:4222"', `"127.0.0.1:${own}"`],
        ['"0.0.0.0:8883"', `"127.0.0.1:${port}"`],
        ['/etc/nats/', '@/'],
        ...replacements(port),
      ]),
    ],
  });
  broker.file(users, shipped(`mqtt/${users}`));
  broker.file('ca.pem', ca.cert);
  broker.file('cert.pem', server.cert);
  broker.file('key.pem', server.key);
  broker.env = { ...ENV, ...env };
  t.teardown(async () => {
    await broker.kill();
    rmSync(broker.folder, { recursive: true, force: true });
  });
  return broker;
}

export interface ClusterServer {
  readonly name: string;
  readonly broker: Broker;
  /** The port of the health check. */
  readonly healthPort: number;
  readonly leafPort: number;
}

/** `true` once the server has a leader and all that its cluster has kept. */
const isWell = async (healthPort: number): Promise<true | undefined> =>
  (await ask(healthPort, '/healthz')).status === 200 ? true : undefined;

const NAMES = ['nats1', 'nats2', 'nats3'];

/** Three servers that have found each other. */
export async function startCluster(t: Scope, authority: Authority): Promise<readonly ClusterServer[]> {
  const routes: (readonly [string, number])[] = [];
  for (const name of NAMES) routes.push([name, await findFreePort()]);
  const servers: ClusterServer[] = [];
  for (const [name, routePort] of routes) {
    const [healthPort, leafPort] = [await findFreePort(), await findFreePort()];
    const replacements = [
      ['"0.0.0.0:8222"', `"127.0.0.1:${healthPort}"`],
      ['"0.0.0.0:7422"', `"127.0.0.1:${leafPort}"`],
      ['"0.0.0.0:6222"', `"127.0.0.1:${routePort}"`],
      ...routes.map(([each, port]) => [`//${each}:6222`, `//127.0.0.1:${port}`] as const),
    ] as const;
    const files = ['nats-cluster.conf', 'nats-cluster-users.conf'] as const;
    const broker = await makeServer(t, files, () => replacements, authority, { NATS_NAME: name });
    broker.env = { ...broker.env, NATS_STORE: `${broker.folder}/store` };
    servers.push({ name, broker, healthPort, leafPort });
  }
  await Promise.all(servers.map(({ broker }) => broker.start()));
  for (const { healthPort } of servers) await until(() => isWell(healthPort));
  for (const { broker, healthPort } of servers) {
    await connectOnce(broker.port, authority);
    await until(() => isWell(healthPort));
  }
  return servers;
}

/**
 * Connects once, as clients of a cluster in use have: the first one creates the streams of kept states, and the first at each
 * server makes it read them. While both happened at once, a hub saw no machine in 4 of 18 runs (nats-server 2.9.10).
 */
async function connectOnce(port: number, { ca }: Authority): Promise<void> {
  const options = { username: 'hub1', password: PASSWORDS.hub1, ca: ca.cert };
  const { client } = new Witness(`mqtts://127.0.0.1:${port}`, options);
  await client.subscribeAsync('hostwire/+/status');
  await client.endAsync();
}

/** The server of a site, which connects to `leafPort` of the centre. */
export async function startLeaf(t: Scope, authority: Authority, leafPort: number): Promise<Broker> {
  const files = ['nats-leaf.conf', 'nats-users.conf'] as const;
  const leaf = await makeServer(t, files, () => [], authority, {
    NATS_NAME: 'berlin',
    NATS_CENTRE: `tls://site:${PASSWORDS.site}@127.0.0.1:${leafPort}`,
  });
  await leaf.start();
  return leaf;
}
