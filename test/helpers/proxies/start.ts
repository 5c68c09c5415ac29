/** Starts a real reverse proxy before a service, as an unprivileged process on loopback. */
import { type ChildProcess, spawn } from 'node:child_process';
import { chownSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import tls from 'node:tls';
import type { Test } from 'tap';
import { makePair } from '../certificates.ts';
import { PATIENCE_MS } from '../limits.ts';
import { emptyFolder } from '../scope.ts';
import { findFreePort } from '../service/free-port.ts';
import { configOf, type Where } from './blocks.ts';
import type { Places, ProxyProgram } from './programs.ts';

/** The name that the blocks are for. */
export const NAME = 'pc.example.org';

export interface StartedProxy {
  readonly port: number;
  readonly isSecure: boolean;
  /** The origin that a browser shows: `https://pc.example.org:PORT`. */
  readonly origin: string;
  /** `Host`, as a browser sends it. */
  readonly host: string;
}

export interface ProxyOptions {
  readonly where?: Where;
  readonly scheme?: Places['scheme'];
  /** Changes the block, which has the ports of the test already. */
  readonly edit?: (block: string) => string;
}

/** An unprivileged user: as root a proxy would switch to the user www-data, and write its log elsewhere. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};

const pair = makePair({ name: NAME });

/** Whether it accepts connections; with TLS also, whether it has its certificate, which Caddy makes after it listens. */
async function listens({ port, scheme }: Places): Promise<boolean> {
  const options = { port, host: '127.0.0.1', servername: NAME, rejectUnauthorized: false };
  const socket = scheme === 'https' ? tls.connect(options) : net.connect(options);
  const event = scheme === 'https' ? 'secureConnect' : 'connect';
  return await new Promise((resolve) => {
    socket.once(event, () => resolve(true)).once('error', () => resolve(false));
    socket.once(event, () => socket.destroy());
  });
}

async function makePlaces(t: Pick<Test, 'teardown'>, scheme: Places['scheme']): Promise<Places> {
  const folder = emptyFolder(t, 'proxy');
  const { cert, key } = await pair;
  const write = (name: string, text: string) => {
    writeFileSync(path.join(folder, name), text, { mode: 0o600 });
    return path.join(folder, name);
  };
  return {
    folder,
    port: await findFreePort(),
    scheme,
    cert: write('cert.pem', cert),
    key: write('key.pem', key),
    both: write('both.pem', `${cert}\n${key}`),
  };
}

function giveToNobody(folder: string): void {
  if (NOBODY.uid === undefined) return;
  for (const name of ['.', ...readdirSync(folder)])
    chownSync(path.join(folder, name), NOBODY.uid, NOBODY.gid);
}

/** The process groups that must not outlive this process, if a test fails half-way. */
const groups = new Set<number>();
process.once('exit', () => groups.forEach(killGroup));

function killGroup(group: number): void {
  try {
    process.kill(-group, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

/** Ends the proxy with its workers at the end of the test. */
function endWith(t: Pick<Test, 'teardown'>, child: ChildProcess): void {
  const ended = new Promise((resolve) => child.once('close', resolve));
  const { pid } = child;
  if (pid === undefined) return;
  groups.add(pid);
  t.teardown(async () => {
    killGroup(pid);
    await ended;
    groups.delete(pid);
  });
}

function logOf({ folder }: Places): string {
  try {
    return readFileSync(path.join(folder, 'error.log'), 'utf8');
  } catch {
    return '';
  }
}

/** Resolves when `program` listens, with its block of docs/operating.md for `where` before the service. */
export async function startProxy(
  t: Pick<Test, 'teardown'>,
  program: ProxyProgram,
  servicePort: number,
  { where = '/', scheme = 'http', edit = (block) => block }: ProxyOptions = {},
): Promise<StartedProxy> {
  const places = await makePlaces(t, scheme);
  const { folder, port } = places;
  const file = path.join(folder, 'proxy.conf');
  writeFileSync(file, configOf(program, where, places, servicePort, edit));
  giveToNobody(folder);
  const env = { PATH: '/usr/bin:/bin', HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const args = program.argsFor(file, places);
  // With a process group of its own.
  const child = spawn(program.path, args, {
    ...NOBODY,
    env,
    cwd: folder,
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    said += part;
  });
  endWith(t, child);
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await listens(places))) {
    if (child.exitCode !== null || performance.now() > deadline)
      throw new Error(`${program.name} does not listen (${child.exitCode}): ${said}${logOf(places)}`);
    await sleep(20);
  }
  const host = `${NAME}:${port}`;
  return { port, isSecure: scheme === 'https', origin: `${scheme}://${host}`, host };
}
