/**
 * Resolves names: a SOCKS5 proxy on loopback through which a browser makes all its connections, by name. It resolves the
 * name when the connection is made and passes the bytes on unchanged, so that a name can be rebound between two
 * connections; and it records the bytes to and from the services.
 */
import net from 'node:net';
import { ATTACKER_ADDRESS, isAttackersName, isRebindable, SERVICE_ADDRESS, SERVICE_NAME } from './names.ts';
import { WireConnection, type WireExchange } from './wire.ts';

/** Time for a connection to deliver the answer that reported the new binding. */
const LAST_BYTES_MS = 30;

const VERSION = 5;
const CONNECT = 1;
const [IPV4, NAME] = [1, 3];
const [OK, NOT_ALLOWED, REFUSED] = [0, 2, 5];

interface Wanted {
  readonly host: string;
  readonly port: number;
  readonly bytes: number;
}

/** The request `05 01 00 type address port` at the start of `bytes`; undefined while it is not whole. */
function parseRequest(bytes: Buffer): Wanted | undefined {
  if (bytes.length < 5) return undefined;
  const type = bytes[3];
  const length = type === NAME ? 1 + (bytes[4] ?? 0) : type === IPV4 ? 4 : 16;
  const end = 4 + length + 2;
  if (bytes.length < end) return undefined;
  const address = bytes.subarray(type === NAME ? 5 : 4, 4 + length);
  // Nothing of the attack has an IPv6 address.
  const host = type === NAME ? address.toString('latin1') : type === IPV4 ? address.join('.') : '';
  return { host: host.toLowerCase().replace(/\.$/, ''), port: bytes.readUInt16BE(end - 2), bytes: end };
}

export class Resolver {
  readonly #server = net.createServer((socket) => this.#accept(socket));
  readonly #rebound = new Set<string>();
  /** The connections that a name has to the attacker, by name and port. */
  readonly #toAttacker = new Map<string, Set<net.Socket>>();
  readonly #open = new Set<net.Socket>();
  /** By address and port of the service. */
  readonly #logs = new Map<string, WireExchange[]>();

  static async start(): Promise<Resolver> {
    const resolver = new Resolver();
    await new Promise<void>((resolve) => resolver.#server.listen(0, '127.0.0.1', resolve));
    return resolver;
  }

  get port(): number {
    // It listens on TCP.
    return (this.#server.address() as net.AddressInfo).port;
  }

  /** All that browsers said to the service on `port`, and what it answered, from now on. */
  watch(port: number): readonly WireExchange[] {
    const log: WireExchange[] = [];
    this.#logs.set(`${SERVICE_ADDRESS}:${port}`, log);
    return log;
  }

  /** From now on `name` leads to the service. */
  rebind(name: string, port: number): void {
    this.#rebound.add(name);
    // As an attacker would do to make the browser resolve the name again: kept connections are closed.
    setTimeout(() => {
      for (const socket of this.#toAttacker.get(`${name}:${port}`) ?? []) socket.destroy();
    }, LAST_BYTES_MS);
  }

  stop(): void {
    this.#server.close();
    for (const socket of this.#open) socket.destroy();
  }

  #addressOf(host: string): string | undefined {
    if (host === SERVICE_ADDRESS || host === SERVICE_NAME) return SERVICE_ADDRESS;
    if (host === ATTACKER_ADDRESS) return ATTACKER_ADDRESS;
    if (isRebindable(host)) return this.#rebound.has(host) ? SERVICE_ADDRESS : ATTACKER_ADDRESS;
    // Browsers look up names of their makers too: those lead nowhere.
    return isAttackersName(host) ? ATTACKER_ADDRESS : undefined;
  }

  #keep(socket: net.Socket, set: Set<net.Socket>): void {
    set.add(socket);
    socket.once('close', () => set.delete(socket));
  }

  #accept(browser: net.Socket): void {
    this.#keep(browser, this.#open);
    browser.on('error', () => browser.destroy());
    let bytes = Buffer.alloc(0);
    let isGreeted = false;
    const read = (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      if (!isGreeted) {
        if (bytes.length < 2 || bytes.length < 2 + (bytes[1] ?? 0)) return;
        bytes = bytes.subarray(2 + (bytes[1] ?? 0));
        isGreeted = true;
        browser.write(Buffer.from([VERSION, 0]));
      }
      const wanted = parseRequest(bytes);
      if (wanted === undefined) return;
      browser.off('data', read);
      const isConnect = bytes[1] === CONNECT;
      this.#connect(browser, wanted, isConnect, bytes.subarray(wanted.bytes));
    };
    browser.on('data', read);
  }

  #connect(browser: net.Socket, { host, port }: Wanted, isConnect: boolean, early: Buffer): void {
    const reply = (code: number) => browser.write(Buffer.from([VERSION, code, 0, IPV4, 0, 0, 0, 0, 0, 0]));
    const address = this.#addressOf(host);
    if (address === undefined || !isConnect) {
      reply(NOT_ALLOWED);
      browser.end();
      return;
    }
    browser.pause();
    const far = net.connect({ port, host: address });
    this.#keep(far, this.#open);
    if (address === ATTACKER_ADDRESS) {
      const known = this.#toAttacker.get(`${host}:${port}`) ?? new Set();
      this.#toAttacker.set(`${host}:${port}`, known);
      this.#keep(browser, known);
    }
    const log = this.#logs.get(`${address}:${port}`);
    const wire = log && new WireConnection((exchange) => log.push(exchange));
    let isConnected = false;
    far.once('connect', () => {
      isConnected = true;
      far.setNoDelay(true);
      browser.setNoDelay(true);
      reply(OK);
      if (early.length > 0) browser.unshift(early);
      browser.on('data', (chunk: Buffer) => wire?.browserSent(chunk));
      far.on('data', (chunk: Buffer) => wire?.serviceSent(chunk));
      browser.pipe(far).pipe(browser);
    });
    far.on('error', () => {
      if (!isConnected) reply(REFUSED);
      browser.end();
    });
    browser.once('close', () => far.destroy());
    far.once('close', () => browser.end());
  }
}
