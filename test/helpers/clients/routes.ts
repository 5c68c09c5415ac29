/** A server with a table of routes made for a test, behind the service's own pipeline. */
import { DEFAULT_CONFIG } from '#src/config/config.js';
import type { Route } from '#src/http/routes.js';
import { createLog } from '#src/log/log.js';
import { callerAt } from '../fakes/sender.ts';
import type { Scope } from '../scope.ts';
import { createEngine } from '../service/engine.ts';
import { RawConnection } from './http.ts';

export async function startRoutes(routes: readonly Route[]): Promise<{
  readonly port: number;
  readonly log: readonly string[];
  /** Opens a connection that is closed when `test` ends. */
  readonly connect: (test: Scope) => Promise<RawConnection>;
  readonly stop: () => void;
}> {
  const { Pipeline } = await import('#src/http/pipeline.js');
  const log: string[] = [];
  const pipeline = new Pipeline({
    gate: {
      noteRefusal: () => undefined,
      judge: ({ remoteAddress = '' }) => ({ isAllowed: true, headers: [], client: callerAt(remoteAddress) }),
    },
    routes,
    config: { current: DEFAULT_CONFIG },
    isStopping: () => false,
    log: createLog((line) => log.push(line)),
  });
  const server = await createEngine({
    headersRead: new Set(['connection', 'content-length', 'transfer-encoding', 'content-type']),
    onRequest: (exchange) => pipeline.handle(exchange),
  });
  const port = await server.listen('127.0.0.1', 0);
  const connect = async (test: Scope) => {
    return await RawConnection.openIn(test, port);
  };
  return { port, log, connect, stop: () => server.close() };
}
