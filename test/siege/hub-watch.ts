/** Honest clients of a hub beside those that follow: commands, new filters, machines that dial in, and a look at samples. */
import http from 'node:http';
import net from 'node:net';
import { TextDecoder } from 'node:util';
import { dialIn } from './dialler.ts';
import type { HubPlace, Place } from './target.ts';

const COMMAND_MS = 500;
const JOIN_MS = 3000;
const DIAL_MS = 5000;
/** An act that takes longer has failed. */
const LIMIT_MS = 15_000;
/** The second attempt of a machine must succeed: the first one may have met a crowd. */
const DIAL_ATTEMPTS = 2;
const ADDRESS = '127.0.0.8';
/** Machines dial in from elsewhere than viewers. */
const GUEST_ADDRESS = '127.4.7.7';

const LF = 10;

interface Seen {
  readonly state: string;
  readonly reason?: string;
  readonly sample?: Readonly<Record<string, unknown>>;
}

export interface HubWatchEvents {
  readonly onFault: (fault: string) => void;
  /** The answer to a command or the first event of a new filter took so long. */
  readonly onAct: (ms: number) => void;
}

const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns why a sample does not have the shape of the contract; undefined: it has. */
function whyWrong(sample: Readonly<Record<string, unknown>>): string | undefined {
  const { cpu, memory, disks, network } = sample;
  if (!Array.isArray(disks) || !disks.every(isObject)) return 'disks';
  for (const [name, value] of Object.entries({ cpu, memory, network })) if (!isObject(value)) return name;
  return undefined;
}

export class HubWatch {
  readonly #place: Place;
  readonly #hub: HubPlace;
  readonly #events: HubWatchEvents;
  readonly #reported = new Set<string>();
  #commands = 0;
  #joins = 0;
  #runs = 0;

  constructor(place: Place, hub: HubPlace, events: HubWatchEvents) {
    this.#place = place;
    this.#hub = hub;
    this.#events = events;
  }

  start(): void {
    setInterval(() => this.#command(), COMMAND_MS);
    setInterval(() => this.#join(), JOIN_MS);
    setInterval(() => void this.#dial(), DIAL_MS);
    this.#look();
  }

  /** With the key and without it: neither may be kept out. */
  #headers(isKeyed: boolean): Readonly<Record<string, string>> {
    const { key } = this.#place;
    return key === undefined || !isKeyed ? {} : { Authorization: `Bearer ${key}` };
  }

  #request(
    method: string,
    path: string,
    isKeyed: boolean,
    onAnswer: (response: http.IncomingMessage) => void,
  ): void {
    const sentAt = performance.now();
    const request = http.request(
      {
        port: this.#place.port,
        host: '127.0.0.1',
        path,
        method,
        agent: false,
        timeout: LIMIT_MS,
        localAddress: ADDRESS,
        headers: this.#headers(isKeyed),
      },
      (response) => {
        if (response.statusCode !== 200)
          this.#events.onFault(`${method} ${path} was answered with ${response.statusCode}`);
        response.once('data', () => this.#events.onAct(performance.now() - sentAt));
        onAnswer(response);
      },
    );
    request.on('timeout', () => request.destroy(new Error('no answer')));
    request.on('error', (error) => this.#events.onFault(`${method} ${path}: ${error.message}`));
    request.end();
  }

  /** Nothing is pending at a real machine, and its backend records: nothing is carried out. */
  #command(): void {
    const id = this.#hub.real[(this.#commands++ >> 1) % this.#hub.real.length];
    const isKeyed = this.#commands % 2 === 0;
    this.#request('POST', `/api/hosts/${id}/pw/cancel`, isKeyed, (response) => response.resume());
  }

  #join(): void {
    const path = `/api/fleet/stream?label=join:${++this.#joins}`;
    const isKeyed = this.#joins % 2 === 0;
    this.#request('GET', path, isKeyed, (response) => response.once('data', () => response.destroy()));
  }

  /** A machine that dials in, and leaves once it is in. */
  async #dial(): Promise<void> {
    for (let attempt = 1; attempt <= DIAL_ATTEMPTS; attempt++) {
      const socket = net.connect({ port: this.#place.port, host: '127.0.0.1', localAddress: GUEST_ADDRESS });
      socket.on('error', () => undefined);
      const isIn = await dialIn(socket, this.#hub.guest, `guest${++this.#runs}`, LIMIT_MS / DIAL_ATTEMPTS);
      socket.destroy();
      if (isIn) return;
    }
    this.#events.onFault(`a machine could not dial in with ${DIAL_ATTEMPTS} attempts`);
  }

  /** Looks at each event of the fleet: what one machine sends must not change what is seen of another. */
  #look(): void {
    const options = { port: this.#place.port, host: '127.0.0.1', localAddress: ADDRESS, agent: false };
    const request = http.get({ ...options, path: '/api/fleet/stream' }, (response) => {
      let parts: Buffer[] = [];
      response.on('data', (bytes: Buffer) => {
        let from = 0;
        for (let end = bytes.indexOf(LF); end >= 0; end = bytes.indexOf(LF, from)) {
          // Each event is one line; the blank one after it is skipped.
          const line = Buffer.concat([...parts, bytes.subarray(from, end)]);
          if (line.length > 0) this.#judge(line.subarray('data: '.length));
          parts = [];
          from = end + 1;
        }
        if (from < bytes.length) parts.push(bytes.subarray(from));
      });
    });
    request.on('error', (error) => this.#report(`the stream of all machines: ${error.message}`));
    request.on('close', () => this.#report('the stream of all machines was closed'));
  }

  /** Once each, because it would be reported with every event. */
  #report(fault: string): void {
    if (this.#reported.has(fault)) return;
    this.#reported.add(fault);
    this.#events.onFault(fault);
  }

  #judge(event: Buffer): void {
    let hosts: Readonly<Record<string, Seen>>;
    try {
      // Judged below as far as it is used.
      ({ hosts } = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(event)));
    } catch (error) {
      this.#report(`an event of all machines is malformed: ${String(error).slice(0, 80)}`);
      return;
    }
    const isHostile = (id: string) => /^(?:evil|intruder|guest)/.test(id);
    for (const [id, { state, reason, sample }] of Object.entries(hosts)) {
      if (state !== 'up' && !isHostile(id)) this.#report(`${id} is ${state}: ${reason}`);
      const wrong = sample && whyWrong(sample);
      if (wrong !== undefined) this.#report(`a sample of ${id} has a bad member ${wrong}`);
    }
  }
}
