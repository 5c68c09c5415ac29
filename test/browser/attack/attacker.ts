/** The attacker's web server: serves the page of each attempt, and collects what the page could read. */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { ATTACKER_ADDRESS, SERVICE_ADDRESS } from './names.ts';
import type { Resolver } from './resolver.ts';

export interface Resource {
  readonly body: string;
  /** `text/html` without it. */
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The resources that one attempt serves below `/attempt/ID/`; the page is `page`. */
export type Resources = Readonly<Record<string, Resource>>;

/** Reports of an attempt's page: bytes that it read, or `failed: …`. */
export type Loot = readonly string[];

interface Attempt {
  readonly resources: Resources;
  readonly loot: string[];
}

function read(request: http.IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    request.once('end', () => resolve(text));
    request.once('error', () => resolve(text));
  });
}

export class Attacker {
  readonly #servers: http.Server[] = [];
  readonly #standsIn = new Set<number>();
  readonly #attempts = new Map<string, Attempt>();
  readonly #resolver: Resolver;
  #port = 0;
  #neighbourPort = 0;

  private constructor(resolver: Resolver) {
    this.#resolver = resolver;
  }

  static async start(resolver: Resolver): Promise<Attacker> {
    const attacker = new Attacker(resolver);
    attacker.#port = await attacker.#listen(ATTACKER_ADDRESS, 0);
    attacker.#neighbourPort = await attacker.#listen(SERVICE_ADDRESS, 0);
    return attacker;
  }

  /** At the attacker's address. */
  get port(): number {
    return this.#port;
  }

  /** At the services' address. */
  get neighbourPort(): number {
    return this.#neighbourPort;
  }

  /** Listens on a service's port too, at the attacker's address: a name that is bound anew keeps its port. */
  async standInFor(servicePort: number): Promise<void> {
    if (this.#standsIn.has(servicePort)) return;
    this.#standsIn.add(servicePort);
    await this.#listen(ATTACKER_ADDRESS, servicePort);
  }

  /** Serves `resources` as the attempt `id`; what its pages report is in the list returned, as it comes. */
  lay(id: string, resources: Resources): Loot {
    const loot: string[] = [];
    this.#attempts.set(id, { resources, loot });
    return loot;
  }

  stop(): void {
    for (const server of this.#servers) {
      server.close();
      server.closeAllConnections();
    }
  }

  async #listen(address: string, port: number): Promise<number> {
    const server = http.createServer((request, response) => void this.#serve(request, response));
    this.#servers.push(server);
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, address, resolve);
    });
    // It listens on TCP.
    return (server.address() as AddressInfo).port;
  }

  async #serve(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://attacker');
    const [, kind = '', id = '', name = 'page'] = url.pathname.split('/');
    const attempt = this.#attempts.get(id);
    // No connection is kept: the next request asks anew where the name leads.
    response.setHeader('Connection', 'close');
    response.setHeader('Cache-Control', 'no-store');
    const end = (status: number, body = '') => {
      response.statusCode = status;
      response.end(body);
    };
    if (kind === 'loot') {
      attempt?.loot.push(await read(request));
      end(204);
    } else if (kind === 'rebind') {
      end(204);
      const [, name = '', port] = /^(.*?)\.?(?::(\d+))?$/.exec(request.headers.host ?? '') ?? [];
      response.once('close', () => this.#resolver.rebind(name, Number(port ?? 80)));
    } else if (kind === 'redirect') {
      response.setHeader('Location', url.searchParams.get('to') ?? '/');
      response.setHeader('Access-Control-Allow-Origin', request.headers.origin ?? '*');
      end(Number(url.searchParams.get('status')));
    } else {
      const resource = kind === 'attempt' ? attempt?.resources[name] : undefined;
      response.setHeader('Content-Type', resource?.type ?? 'text/html');
      for (const [header, value] of Object.entries(resource?.headers ?? {}))
        response.setHeader(header, value);
      end(resource === undefined ? 404 : 200, resource?.body);
    }
  }
}
