/**
 * Agents that dial a hub by docs/hub-protocol.md, each from an address of its own (127.4.x.y):
 *   dial-agents PORT COUNT    prints `ready`, then for each line of its standard input its counters as JSON
 * They have the ids d0, d1, … and the keys of passwords.ts.
 */
import process from 'node:process';
import readline from 'node:readline';
import { WebSocket } from 'ws';
import { newNonce, proofOf, type Terms } from '#src/agent/protocol/proof.js';
import { counters } from './machine.ts';
import { dialKeyOf } from './passwords.ts';
import { Reporter } from './reporter.ts';

const PING_MS = 5000;
/** As the service: without an end to be seen in the reconnections of others. */
const [MIN_PAUSE_MS, MAX_PAUSE_MS] = [500, 5000];
const [port = 0, count = 0] = process.argv.slice(2).map(Number);

const more = { online: 0, ended: 0 };

class Agent {
  readonly #index: number;
  readonly #reporter: Reporter;
  #socket: WebSocket | undefined;

  constructor(index: number) {
    this.#index = index;
    this.#reporter = new Reporter((topic, payload) => this.#send(topic, payload));
    this.#open();
  }

  get #id(): string {
    return `d${this.#index}`;
  }

  /** Called every second. */
  look(): void {
    this.#reporter.expire();
  }

  #send(topic: string, payload: string): void {
    this.#socket?.send(`${topic}\n${payload}`, () => undefined);
  }

  #open(): void {
    const localAddress = `127.4.${this.#index >> 8}.${1 + (this.#index & 127)}`;
    const socket = new WebSocket(`ws://127.0.0.1:${port}/api/agent`, { localAddress });
    this.#socket = socket;
    const pings = setInterval(() => socket.readyState === WebSocket.OPEN && socket.ping(), PING_MS);
    let isProven = false;
    socket
      .on('error', () => undefined)
      .on('close', () => {
        clearInterval(pings);
        if (isProven) more.ended++;
        this.#reporter.rest();
        setTimeout(() => this.#open(), MIN_PAUSE_MS + Math.random() * (MAX_PAUSE_MS - MIN_PAUSE_MS));
      })
      .on('message', (data) => {
        const text = String(data);
        const end = text.indexOf('\n');
        const [topic, payload] = [text.slice(0, end), text.slice(end + 1)];
        if (topic === 'challenge') this.#prove(JSON.parse(payload).nonce);
        else if (topic === 'proof') {
          isProven = true;
          this.#begin();
        } else this.#reporter.take(topic, payload);
      });
  }

  #prove(hubNonce: string): void {
    const { run } = this.#reporter;
    const terms: Terms = { id: this.#id, run, hubNonce, agentNonce: newNonce() };
    const proof = proofOf(dialKeyOf(this.#id), 'agent', terms);
    this.#send('proof', JSON.stringify({ id: this.#id, run, nonce: terms.agentNonce, proof }));
  }

  #begin(): void {
    const online = { version: '0.0.0-simulated', protocol: 1, name: 'simulated', labels: {} };
    this.#send('status', this.#reporter.status('online', online));
    if (++more.online === count) console.log('ready');
  }
}

const agents = Array.from({ length: count }, (_, index) => new Agent(index));
setInterval(() => agents.forEach((agent) => agent.look()), 1000);
readline
  .createInterface(process.stdin)
  .on('line', () => console.log(JSON.stringify({ ...counters, ...more })))
  .on('close', () => process.exit(0));
