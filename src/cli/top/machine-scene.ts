/** One machine on a terminal. */
import type { Key } from 'node:readline';
import type { HostSocket } from '../../client/client.ts';
import type { Painted, Scene } from './display.ts';
import { press, type TerminalAction } from './keys.ts';
import { Session } from './session.ts';
import type { View } from './view.ts';

export class MachineScene implements Scene<'back'> {
  readonly #socket: HostSocket;
  readonly #paint: (view: View) => Painted;
  readonly #session: Session;
  #shown: number;
  #onChange: () => void = () => undefined;
  #goBack: () => void = () => undefined;

  constructor(socket: HostSocket, view: View, paint: (view: View) => Painted) {
    this.#socket = socket;
    this.#paint = paint;
    this.#shown = paint(view).shown;
    this.#session = new Session(socket, view, this.#shown, () => this.#onChange());
  }

  get isTyping(): boolean {
    return this.#session.view.isTyping;
  }

  paint(): readonly string[] {
    const { lines, shown } = this.#paint(this.#session.view);
    this.#shown = shown;
    return lines;
  }

  press(key: Key): TerminalAction | undefined {
    const { view, action } = press(this.#session.view, key, this.#shown);
    if (action === 'back') {
      if (!view.isOfHub) return 'quit';
      this.#goBack();
      return undefined;
    }
    if (typeof action === 'string') return action;
    this.#session.take(view, this.#shown);
    if (action !== undefined) void this.#session.end(action);
    return undefined;
  }

  run(onChange: () => void): Promise<'back'> {
    this.#onChange = onChange;
    return new Promise((resolve, reject) => {
      this.#goBack = () => resolve('back');
      this.#socket.on('state', (state) => {
        if (state.state === 'closed' && state.error !== undefined) reject(state.error);
      });
      this.#session.run().catch(reject);
    });
  }

  close(): void {
    this.#session.close();
  }
}
