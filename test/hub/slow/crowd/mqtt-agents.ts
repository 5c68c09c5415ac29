/**
 * Agents behind a broker by docs/hub-protocol.md, each with a connection, a user and a last will of its own:
 *   mqtt-agents PORT COUNT    prints `ready`, then for each line of its standard input its counters as JSON
 * They have the ids h0, h1, … and the passwords of passwords.ts. Of questions they answer that for the clock; they have no
 * commands.
 */
import net from 'node:net';
import process from 'node:process';
import readline from 'node:readline';
import { counters, Machine, now, type Sample, SECTIONS, type Section } from './machine.ts';
import { connect, type Message, messageOf, PacketReader, PING, publish, subscribe, TYPE } from './packets.ts';
import { passwordOf } from './passwords.ts';

const KEEP_ALIVE_SECONDS = 30;
const LEASE_MS = 10_000;
const [port = 0, count = 0] = process.argv.slice(2).map(Number);
/** Between the starts of two: a thousand logins at once are not what is measured. */
const PACE_MS = 3;

const more = { online: 0, ended: 0, refused: 0 };
const SHARED = Buffer.alloc(64 * 1024);

interface Lease {
  readonly plain: readonly Section[];
  /** undefined: nothing with detail. */
  readonly detail: readonly Section[] | undefined;
  readonly endsAtMs: number;
}

const known = (names: unknown): readonly Section[] =>
  Array.isArray(names) ? SECTIONS.filter((name) => names.includes(name)) : [];

const isWithin = (wanted: readonly Section[], had: readonly Section[]) =>
  wanted.every((name) => had.includes(name));

class Agent {
  readonly #base: string;
  readonly #run = Math.random().toString(16).slice(2);
  readonly #machine = new Machine();
  readonly #leases = new Map<string, Lease>();
  readonly #socket: net.Socket;
  #detach: (() => void) | undefined;
  #count = 0;
  #lastId = 0;
  #sentAtMs = 0;
  /** Acknowledgements that are missing before it is online: of the subscription and of the state. */
  #missing = 2;

  constructor(id: string) {
    this.#base = `hostwire/${id}/hub`;
    const reader = new PacketReader((type, flags, body) => this.#take(type, flags, body));
    this.#socket = net.connect({
      ...{ port, host: '127.0.0.1', noDelay: true },
      onread: {
        buffer: SHARED,
        callback: (length) => {
          reader.take(SHARED.subarray(0, length));
          return true;
        },
      },
    });
    this.#socket.on('error', () => undefined);
    this.#socket.on('close', () => {
      more.ended++;
      this.#detach?.();
    });
    const will = { topic: `${this.#base}/status`, payload: this.#status('offline', {}) };
    const login = { clientId: `hostwire-${id}`, username: id, password: passwordOf(id) };
    this.#send(connect({ ...login, will, keepAliveSeconds: KEEP_ALIVE_SECONDS }));
  }

  /** Called every second. */
  look(): void {
    if (now() - this.#sentAtMs > (KEEP_ALIVE_SECONDS * 1000) / 2) this.#send(PING);
    this.#expire();
  }

  #status(state: string, said: object): string {
    return JSON.stringify({ state, run: this.#run, ...said });
  }

  #send(bytes: Buffer): void {
    this.#sentAtMs = now();
    this.#socket.write(bytes);
  }

  #nextId(): number {
    this.#lastId = (this.#lastId % 65_535) + 1;
    return this.#lastId;
  }

  #take(type: number, flags: number, body: Buffer): void {
    if (type === TYPE.connack && body[1] === 0) this.#begin();
    else if (type === TYPE.connack) more.refused++;
    else if (type === TYPE.suback && body.subarray(2).some((code) => code >= 0x80)) more.refused++;
    else if (type === TYPE.suback || type === TYPE.puback) {
      if (--this.#missing === 0 && ++more.online === count) console.log('ready');
    } else if (type === TYPE.publish) this.#receive(messageOf(flags, body));
  }

  #begin(): void {
    this.#send(subscribe(this.#nextId(), [`${this.#base}/want`, `${this.#base}/cmd/#`]));
    const online = { version: '0.0.0-simulated', protocol: 1, name: 'simulated', labels: { site: 'test' } };
    this.#send(publish(`${this.#base}/status`, this.#status('online', online), this.#nextId(), true));
  }

  #receive({ topic, payload, isRetained }: Message): void {
    if (isRetained) return;
    const message: Readonly<Record<string, unknown>> = JSON.parse(payload); // As a hub sends it.
    const hub = String(message['hub']);
    if (topic === `${this.#base}/want`) this.#want(hub, message);
    else this.#answer(hub, topic, message);
  }

  #want(hub: string, { sections, detail }: Readonly<Record<string, unknown>>): void {
    this.#expire();
    const lease = {
      plain: known(sections),
      detail: detail === undefined ? undefined : known(detail),
      endsAtMs: now() + LEASE_MS,
    };
    const before = this.#leases.get(hub);
    if (lease.plain.length === 0 && lease.detail === undefined) this.#leases.delete(hub);
    else this.#leases.set(hub, lease);
    this.#settle();
    if (!this.#leases.has(hub)) return;
    const isNarrow =
      before !== undefined &&
      isWithin(lease.plain, before.plain) &&
      (lease.detail === undefined || (before.detail !== undefined && isWithin(lease.detail, before.detail)));
    if (!isNarrow) this.#machine.sample();
  }

  #expire(): void {
    for (const [hub, { endsAtMs }] of this.#leases) if (endsAtMs <= now()) this.#leases.delete(hub);
    this.#settle();
  }

  /** It samples while there is a lease. */
  #settle(): void {
    if (this.#leases.size === 0) {
      this.#detach?.();
      this.#detach = undefined;
    } else this.#detach ??= this.#machine.attach((sample) => this.#publish(sample));
  }

  #publish({ begin, sections }: Sample): void {
    const leases = [...this.#leases.values()];
    const plain = SECTIONS.filter((name) => leases.some((lease) => lease.plain.includes(name)));
    const isDetailed = leases.some(({ detail }) => detail !== undefined);
    const detail = SECTIONS.filter((name) => leases.some((lease) => lease.detail?.includes(name)));
    const clock = Math.floor(now());
    const head = { v: 1, run: this.#run, clock, n: this.#count++, plain, ...(isDetailed && { detail }) };
    // Of what detail adds beside sections it has nothing, and its sections have no more with detail.
    const lines = [...plain.map((name) => sections[name]), ...(isDetailed ? [''] : [])];
    if (isDetailed) lines.push(...detail.map((name) => sections[name]));
    this.#send(publish(`${this.#base}/sample`, [JSON.stringify(head), begin, ...lines].join('\n')));
  }

  #answer(hub: string, topic: string, { id, what }: Readonly<Record<string, unknown>>): void {
    const isClock = topic === `${this.#base}/cmd/get` && what === 'clock';
    const found = isClock
      ? { command: 'get', stage: 'done', success: true, message: 'Done', result: {} }
      : { stage: 'refused', success: false, message: 'It is simulated.', code: 'not_supported' };
    const feedback = { ...found, id, run: this.#run, clock: Math.floor(now()) };
    this.#send(publish(`${this.#base}/feedback/${hub}`, JSON.stringify(feedback), this.#nextId()));
  }
}

const agents: Agent[] = [];
for (let i = 0; i < count; i++) setTimeout(() => agents.push(new Agent(`h${i}`)), i * PACE_MS);
setInterval(() => agents.forEach((agent) => agent.look()), 1000);
readline
  .createInterface(process.stdin)
  .on('line', () => console.log(JSON.stringify({ ...counters, ...more })));
