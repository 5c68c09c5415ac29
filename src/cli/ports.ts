/** Finds why a port cannot be listened on, and which process holds it. */
import net from 'node:net';
import { text } from 'node:stream/consumers';
import { isLoopback } from '../access/exposure.ts';
import { clean } from '../clean.ts';
import type { Config } from '../config/config.ts';
import { TEXTS } from '../fairness/limits.ts';
import { openNativeProcess, type PortHolder } from '../host/native.ts';

export interface PortProblem {
  readonly reason: string;
  readonly remedy: string;
  /** A hostwire service listens there. */
  readonly isOurs?: true;
}

const LIMIT_MS = 1000;

/** Tries to listen, for a moment; undefined when that works. `key`: the port's key in the configuration. */
export async function findPortProblem(
  host: string,
  port: number,
  key = 'server.port',
): Promise<PortProblem | undefined> {
  const error = await tryListening(host, port);
  if (error === undefined) return undefined;
  // As the service does on a kernel without IPv6.
  if (host === '::' && WITHOUT_IPV6.includes(error.code ?? ''))
    return await findPortProblem('0.0.0.0', port, key);
  const name = JSON.stringify(host);
  switch (error.code) {
    case 'EADDRINUSE':
      return await describeUse(host, port, key);
    case 'EADDRNOTAVAIL':
      return {
        reason: `${name} is not an address of this machine`,
        remedy: 'set server.host to one of its addresses, or to "::" for all of them',
      };
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return { reason: `${name} is not a known host name`, remedy: 'set server.host to an address' };
    case 'EACCES':
      return {
        reason: `this user is not allowed to listen on port ${port}`,
        remedy: `set ${key} to 1024 or more, or give the service CAP_NET_BIND_SERVICE`,
      };
    default:
      return { reason: error.message, remedy: `change server.host or ${key}` };
  }
}

/** Returns whether a service listens on 127.0.0.1 only, although its configuration has another `host`. */
export async function isStillLocal({
  host,
  port,
}: Pick<Config['server'], 'host' | 'port'>): Promise<boolean> {
  if (isLoopback(host)) return false;
  // All of 127.0.0.0/8 are addresses of this machine, on Linux and on Windows.
  const other = WILDCARDS.includes(host) ? '127.0.0.2' : host;
  return (await tryListening(other, port)) === undefined && (await answersAsHostwire('127.0.0.1', port));
}

function tryListening(host: string, port: number): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.once('error', resolve);
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

async function describeUse(host: string, port: number, key: string): Promise<PortProblem> {
  const isOurs = await answersAsHostwire(host, port);
  const holder = findHolder(port);
  const who = holder === undefined ? '' : ` by process ${holder.pid} (${clean(holder.name, TEXTS.name)})`;
  return isOurs
    ? {
        reason: `hostwire is already running there${holder === undefined ? '' : `, as process ${holder.pid}`}`,
        remedy: `stop it first, or set ${key} to another port`,
        isOurs: true,
      }
    : {
        reason: `already in use${who}`,
        remedy: `stop the program that uses it, or set ${key} to another port`,
      };
}

const WITHOUT_IPV6 = ['EAFNOSUPPORT', 'EADDRNOTAVAIL'];
const WILDCARDS = ['::', '0.0.0.0'];

/** Returns whether the listener answers like hostwire, over HTTP or HTTPS: it may run with another configuration. */
async function answersAsHostwire(host: string, port: number): Promise<boolean> {
  const target = { host: WILDCARDS.includes(host) ? 'localhost' : host, port };
  for (const load of [() => import('node:http'), () => import('node:https')])
    if ((await readStatus((await load()).get, target)) === '{"status":"ok"}') return true;
  return false;
}

/** Returns the text of the answer to `GET /api/status`, which needs no key; '' without an answer. */
async function readStatus(
  get: typeof import('node:https').get,
  target: { readonly host: string; readonly port: number },
): Promise<string> {
  return await new Promise((resolve) => {
    const fail = () => resolve('');
    const request = get({
      ...target,
      path: '/api/status',
      signal: AbortSignal.timeout(LIMIT_MS),
      // The request contains no secret, and hostwire may have a certificate for other names.
      rejectUnauthorized: false,
    });
    request.once('response', (answer) => void text(answer).then(resolve, fail));
    request.once('error', fail);
  });
}

function findHolder(port: number): PortHolder | undefined {
  try {
    return openNativeProcess().findPortHolder(port);
  } catch {
    // The addon cannot be loaded, which is reported elsewhere.
    return undefined;
  }
}
