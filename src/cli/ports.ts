/** Why a port cannot be listened on, and who has it. */
import net from 'node:net';
import { openNativeProcess, type PortHolder } from '../host/native.ts';

export interface PortProblem {
  readonly reason: string;
  readonly remedy: string;
  /** A hostwire listens there. */
  readonly isOurs?: true;
}

const LIMIT_MS = 1000;

/** Tries to listen, for a moment; undefined when that works. `key`: the port's in the configuration. */
export async function findPortProblem(
  host: string,
  port: number,
  key = 'server.port',
): Promise<PortProblem | undefined> {
  const error = await tryListening(host, port);
  if (error === undefined) return undefined;
  const name = JSON.stringify(host);
  switch (error.code) {
    case 'EADDRINUSE':
      return await describeUse(port, key);
    case 'EADDRNOTAVAIL':
      return {
        reason: `${name} is no address of this machine`,
        remedy: 'set server.host to one of its addresses, or to "::" for all',
      };
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return { reason: `${name} is no known host name`, remedy: 'set server.host to an address' };
    case 'EACCES':
      return {
        reason: `this user may not listen on port ${port}`,
        remedy: `set ${key} to 1024 or more, or give the service CAP_NET_BIND_SERVICE`,
      };
    default:
      return { reason: error.message, remedy: `set server.host or ${key} to others` };
  }
}

function tryListening(host: string, port: number): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.once('error', resolve);
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

async function describeUse(port: number, key: string): Promise<PortProblem> {
  const isOurs = await answersAsHostwire(port);
  const holder = findHolder(port);
  const who = holder === undefined ? '' : ` by process ${holder.pid} (${holder.name})`;
  return isOurs
    ? {
        reason: `hostwire runs there already${holder === undefined ? '' : `, as process ${holder.pid}`}`,
        remedy: `stop it first, or set ${key} to another port`,
        isOurs: true,
      }
    : {
        reason: `it is in use${who}`,
        remedy: `stop the program that uses it, or set ${key} to another port`,
      };
}

/** Whether what listens on `port` of this machine answers as hostwire does. */
async function answersAsHostwire(port: number): Promise<boolean> {
  try {
    const answer = await fetch(`http://localhost:${port}/api/status`, {
      signal: AbortSignal.timeout(LIMIT_MS),
    });
    return (await answer.text()) === '{"status":"ok"}';
  } catch {
    return false;
  }
}

function findHolder(port: number): PortHolder | undefined {
  try {
    return openNativeProcess().findPortHolder(port);
  } catch {
    // The addon cannot be loaded, which is reported elsewhere.
    return undefined;
  }
}
