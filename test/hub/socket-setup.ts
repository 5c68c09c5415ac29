/** A client of a hub's WebSockets: messages with the machine that they are about. */
import { Refused, SocketClient } from '../helpers/clients/socket.ts';
import type { Told } from '../helpers/clients/talk.ts';
import type { Scope } from '../helpers/scope.ts';
import type { StartedHub } from './setup.ts';

export type HubTold = Told & { readonly host?: string };

/** 101, or the status of the refusal. */
export async function upgradeStatus(
  port: number,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<number> {
  try {
    (await SocketClient.open(port, { path, headers })).cut();
    return 101;
  } catch (error) {
    if (error instanceof Refused) return error.status;
    throw error;
  }
}

export class HubClient {
  readonly socket: SocketClient;
  #asked = 0;

  private constructor(socket: SocketClient) {
    this.socket = socket;
  }

  /** Opens a socket; by default that of all machines. The greeting is taken. */
  static async open(
    t: Scope,
    hub: Pick<StartedHub, 'port'>,
    path = '/api/ws',
    headers: Readonly<Record<string, string>> = {},
  ): Promise<HubClient> {
    const socket = await SocketClient.openIn(t, hub.port, { path, headers });
    await socket.take('connected');
    return new HubClient(socket);
  }

  get told(): readonly HubTold[] {
    return this.socket.told;
  }

  say(op: string, frame: object, id?: string | number): void {
    this.socket.sayText(JSON.stringify({ op, id, ...frame }));
  }

  async take(wanted: string | ((told: HubTold) => boolean)): Promise<HubTold> {
    return await this.socket.take(wanted);
  }

  /** The first answer with the id of a new message. */
  async ask(op: string, frame: object): Promise<HubTold> {
    const id = `ask ${++this.#asked}`;
    this.say(op, frame, id);
    return await this.take((told) => told.id === id);
  }

  /** Everything that has arrived once the hub has read every message sent before. */
  async settle(): Promise<readonly HubTold[]> {
    return await this.socket.settle();
  }
}
