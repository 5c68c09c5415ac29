/** HAProxy of Debian with the shipped haproxy.cfg, before hubs and brokers of a test. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import tls from 'node:tls';
import type { TestPair } from '../../helpers/certificates.ts';
import { programNamed, skipProxy } from '../../helpers/proxies/programs.ts';
import { emptyFolder, type Scope } from '../../helpers/scope.ts';
import { findFreePort } from '../../helpers/service/free-port.ts';
import { until } from '../../helpers/until.ts';
import { makeAuthority, startCluster } from './setup.ts';
import { edited, type Replacement, shipped } from './shipped.ts';

/** Why there can be no HAProxy here; false if there can. */
export const NO_HAPROXY = skipProxy(programNamed('haproxy'));

const running = new Set<ChildProcess>();
process.once('exit', () => running.forEach((child) => child.kill('SIGKILL')));

/** Where the two hubs and the three brokers listen; a broker also for its health check. */
export interface Behind {
  readonly hubs: readonly number[];
  readonly brokers: readonly {
    readonly port: number;
    readonly leafPort?: number;
    readonly healthPort: number;
  }[];
}

export interface StartedHaproxy {
  /** For viewers, with TLS. */
  readonly port: number;
  /** For MQTT. */
  readonly mqttPort: number;
  /** For the servers of sites. */
  readonly leafPort: number;
  readonly log: () => string;
}

const answers = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
    socket.once('secureConnect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('secureConnect', () => socket.destroy());
  });

export async function startHaproxy(t: Scope, behind: Behind, pair: TestPair): Promise<StartedHaproxy> {
  const folder = emptyFolder(t, 'haproxy');
  const [port, mqttPort, leafPort] = [await findFreePort(), await findFreePort(), await findFreePort()];
  const pem = path.join(folder, 'site.pem');
  writeFileSync(pem, `${pair.cert}\n${pair.key}`, { mode: 0o600 });
  const places: readonly Replacement[] = [
    ['bind :8443 ssl crt /etc/haproxy/site.pem', `bind 127.0.0.1:${port} ssl crt ${pem}`],
    ['bind :8883', `bind 127.0.0.1:${mqttPort}`],
    ...behind.hubs.map((hub, i) => [` hub${i + 1}:9980`, ` 127.0.0.1:${hub}`] as const),
    ['bind :7422', `bind 127.0.0.1:${leafPort}`],
    ...behind.brokers.flatMap(({ port: broker, leafPort: leaf = broker, healthPort }, i) => [
      [` nats${i + 1}:8883`, ` 127.0.0.1:${broker} port ${healthPort}`] as const,
      [` nats${i + 1}:7422`, ` 127.0.0.1:${leaf} port ${healthPort}`] as const,
    ]),
  ];
  const file = path.join(folder, 'haproxy.cfg');
  writeFileSync(file, edited(shipped('compose/nats/haproxy.cfg'), places));
  const child = spawn(programNamed('haproxy').path, ['-db', '-f', file], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  running.add(child);
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  t.teardown(async () => {
    const ended = once(child, 'exit');
    if (child.exitCode === null && child.kill('SIGKILL')) await ended;
    running.delete(child);
  });
  await until(() => {
    if (child.exitCode !== null) throw new Error(`haproxy has ended: ${log}`);
    return answers(port);
  });
  return { port, mqttPort, leafPort, log: () => log };
}

/** Three servers, and the shipped proxy before them; there are no hubs behind it. */
export async function startCentre(t: Scope) {
  const authority = await makeAuthority();
  const servers = await startCluster(t, authority);
  const nobody = await findFreePort();
  const brokers = servers.map(({ broker: { port }, ...ports }) => ({ port, ...ports }));
  const proxy = await startHaproxy(t, { hubs: [nobody, nobody], brokers }, authority.server);
  return { authority, ca: authority.ca, servers, proxy };
}
