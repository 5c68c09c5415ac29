/** The session of a simulated machine with one hub, by docs/websocket.md, whatever carries it. */
import { type Machine, now, type Sample, SECTIONS } from './machine.ts';

interface Message {
  readonly op: string;
  readonly id?: string | number;
  readonly data?: { readonly topics?: readonly string[] };
}

const frame = (type: string, data: string, id?: string | number) =>
  `{"type":"${type}"${id === undefined ? '' : `,"id":${JSON.stringify(id)}`},"data":${data}}`;

/** Sends samples with the wanted sections, without detail; it answers no requests. */
export class Session {
  readonly #send: (text: string) => void;
  readonly #machine: Machine;
  #sections: readonly (typeof SECTIONS)[number][] = [];
  #detach: (() => void) | undefined;

  constructor(id: string, run: string, machine: Machine, send: (text: string) => void) {
    this.#send = send;
    this.#machine = machine;
    const version = '0.0.0-simulated';
    const said = { id, name: 'simulated', labels: { site: 'test' }, version, os: null, model: null };
    const greeting = {
      version,
      protocol: 2,
      run,
      clock: Math.floor(now()),
      machine: { ...said, addresses: [] },
      features: {},
      message: '',
    };
    send(frame('connected', JSON.stringify(greeting)));
  }

  take(text: string): void {
    const { op, id, data }: Message = JSON.parse(text);
    if (op === 'ping') this.#send(frame('pong', `{"clock":${Math.floor(now())}}`, id));
    else if (op === 'subscribe') this.#want(data?.topics ?? [], id);
    else if (op === 'unsubscribe') this.#want([], id);
    else if (op === 'request')
      this.#send(frame('answer', '{"error":{"code":"not_supported","message":"It is simulated."}}', id));
  }

  /** It has ended. */
  end(): void {
    this.#detach?.();
    this.#detach = undefined;
  }

  #want(topics: readonly string[], id: string | number | undefined): void {
    this.#sections = SECTIONS.filter((name) => topics.includes('stats') || topics.includes(`stats.${name}`));
    this.#send(frame('subscribed', JSON.stringify({ topics, unknown: [] }), id));
    if (this.#sections.length === 0) this.end();
    else if (this.#detach === undefined)
      this.#detach = this.#machine.attach((sample) => this.#publish(sample));
    if (this.#sections.length > 0) this.#machine.sample();
  }

  #publish({ begin, sections }: Sample): void {
    const members = [begin, ...this.#sections.map((name) => sections[name])];
    this.#send(frame('system_stats', `{${members.join(',')}}`));
  }
}
