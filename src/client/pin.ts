/** Accepts the service by the pin of its key, where no authority has signed its certificate. On Node only. */
import type { Environment } from './environment.ts';
import { ClientError } from './errors.ts';
import type { SocketConstructor } from './socket-options.ts';

/** Reaches only a server with the pin; see pinned.ts. */
export interface Pinned {
  readonly fetch: typeof fetch;
  readonly WebSocket: SocketConstructor;
}

// Not a literal in the import below: no bundler for pages must follow it.
const MODULE: string = './pinned.js';

/** undefined without a pin. Throws a TypeError when `pin` or `url` is unfit for it, and a ClientError outside Node. */
export function loadPinned(pin: string | undefined, url: string): Promise<Pinned> | undefined {
  if (pin === undefined) return undefined;
  if (!/^sha256\/[\w+/]{43}=$/.test(pin))
    throw new TypeError(`${pin} is not a pin of the form sha256/BASE64`);
  if (new URL(url).protocol !== 'https:') throw new TypeError(`a pin needs https://, not ${url}`);
  const { process } = globalThis as { process?: { versions?: { node?: string } } };
  if (!process?.versions?.node)
    throw new ClientError(
      'no_pinning',
      'a pin works on Node only: browsers decide which certificates they accept',
    );
  return import(/* webpackIgnore: true */ /* @vite-ignore */ MODULE).then(({ createPinned }) =>
    createPinned(pin, ClientError),
  );
}

/** `environment`, with requests that reach only a server with the pin. */
export function withPinned(environment: Environment, pinned: Promise<Pinned> | undefined): Environment {
  return pinned
    ? { ...environment, fetch: async (...request) => (await pinned).fetch(...request) }
    : environment;
}
