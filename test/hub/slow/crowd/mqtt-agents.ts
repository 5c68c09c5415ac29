/**
 * Agents behind a broker by docs/hub-protocol.md, each with a connection, a user and a last will of its own:
 *   mqtt-agents PORT COUNT    prints `ready`, then for each line of its standard input its counters as JSON
 * They have the ids h0, h1, … and the passwords of passwords.ts. Of questions they answer that for the clock; they have no
 * commands.
 */
import net from 'node:net';
import process from 'node:process';
import readline from 'node:readline';
import { counters, now } from './machine.ts';
import { connect, type Message, messageOf, PacketReader, PING, publish, subscribe, TYPE } from './packets.ts';
import { passwordOf } from './passwords.ts';
import { Reporter } from './reporter.ts';

const KEEP_ALIVE_SECONDS = 30;
const [port = 0, count = 0] = process.argv.slice(2).map(Number);
/** Delay between two starts, so that the figures do not include a thousand simultaneous logins. */
const PACE_MS = 3;

const more = { online: 0, ended: 0, refused: 0 };
const SHARED = Buffer.alloc(64 * 1024);

class Agent {
  readonly #base: string;
  readonly #reporter: Reporter;
  readonly #socket: net.Socket;
  #lastId = 0;
  #sentAtMs = 0;
  /** Acknowledgements that are missing before it is online: of the subscription and of the state. */
  #missing = 2;

  constructor(id: string) {
    this.#base = `hostwire/${id}/hub`;
    this.#reporter = new Reporter((topic, payload) => {
      const packetId = topic === 'sample' ? undefined : this.#nextId();
      this.#send(publish(`${this.#base}/${topic}`, payload, packetId));
    });
    const reader = new PacketReader((type, flags, body) => this.#take(type, flags, body));
    this.#socket = net.connect({
      port,
      host: '127.0.0.1',
      noDelay: true,
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
      this.#reporter.rest();
    });
    const will = { topic: `${this.#base}/status`, payload: this.#reporter.status('offline', {}) };
    const login = { clientId: `hostwire-${id}`, username: id, password: passwordOf(id) };
    this.#send(connect({ ...login, will, keepAliveSeconds: KEEP_ALIVE_SECONDS }));
  }

  /** Called every second. */
  look(): void {
    if (now() - this.#sentAtMs > (KEEP_ALIVE_SECONDS * 1000) / 2) this.#send(PING);
    this.#reporter.expire();
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
    this.#send(
      publish(`${this.#base}/status`, this.#reporter.status('online', online), this.#nextId(), true),
    );
  }

  #receive({ topic, payload, isRetained }: Message): void {
    if (isRetained) return;
    this.#reporter.take(topic.slice(this.#base.length + 1), payload);
  }
}

const agents: Agent[] = [];
for (let i = 0; i < count; i++) setTimeout(() => agents.push(new Agent(`h${i}`)), i * PACE_MS);
setInterval(() => agents.forEach((agent) => agent.look()), 1000);
readline
  .createInterface(process.stdin)
  .on('line', () => console.log(JSON.stringify({ ...counters, ...more })));
