/** A hub that a test plays: it connects to a machine, and speaks docs/hub-protocol.md. */
import type { Test } from 'tap';
import { type ClientOptions, WebSocket } from 'ws';
import { until } from '../helpers/until.ts';
import { Talker } from './websocket/setup.ts';

interface Answer {
  readonly id: string;
  readonly stage: string;
  readonly code?: string;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

export class ConnectingHub extends Talker {
  /** Status and headers of the answer where it was not an upgrade. */
  status: number | undefined;
  headers: Readonly<Record<string, unknown>> = {};
  #asked = 0;

  constructor(t: Test, port: number, options: ClientOptions = {}) {
    super(new WebSocket(`ws://127.0.0.1:${port}/api/agent`, options));
    t.teardown(() => this.socket.terminate());
    this.socket.on('unexpected-response', (request, { statusCode, headers }) => {
      this.status = statusCode;
      this.headers = headers;
      request.destroy();
    });
  }

  async refused(): Promise<number> {
    return await until(() => this.status);
  }

  /** Asks a question, or has a command carried out, for a client with the key `phone`. Its last feedback. */
  async ask(what: string, params: object, more: object = {}): Promise<Answer> {
    const id = `asked-${++this.#asked}`;
    const asked = { hub: 'h', id, client: '192.0.2.1', key: 'phone', params };
    if (what.includes('.')) this.say(`cmd/${what.replace('.', '/')}`, { ...asked, ...more });
    else this.say('cmd/get', { ...asked, what });
    return await until(() => this.#answers.find((answer) => answer.id === id));
  }

  get #answers(): readonly Answer[] {
    return this.on('feedback/h').map((text) => JSON.parse(text) as Answer); // As the protocol has it.
  }
}
