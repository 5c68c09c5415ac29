/** The view on a terminal, until a key, a signal or the service ends it. The terminal is restored however it ends. */
import { emitKeypressEvents, type Key } from 'node:readline';
import type { HostSocket } from '../../client/client.ts';
import { press } from './keys.ts';
import { openTerminal, Screen } from './screen.ts';
import { Session } from './session.ts';
import type { View } from './view.ts';

/** The parts of `process` that are used. */
type Emitter = Pick<NodeJS.EventEmitter, 'on' | 'off'>;
export type Program = Pick<NodeJS.Process, 'stdin' | 'stdout' | 'kill' | 'pid'> & Emitter;

export interface Painted {
  readonly lines: readonly string[];
  /** Rows of processes among them. */
  readonly shown: number;
}

type Listener = readonly [Emitter, string, Parameters<Emitter['on']>[1]];

const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;
/** Ages and positions go on between samples. */
const TICK_MS = 1000;
const CONTINUE_MS = 20;

export class Display {
  /** Resolves with the exit code; rejects with the reason why the service ended it. */
  readonly ended: Promise<number>;
  readonly #program: Program;
  readonly #paint: (view: View) => Painted;
  readonly #screen: Screen;
  readonly #session: Session;
  #shown = 1;
  #isPasting = false;
  #finish: (result: number | Error) => void = () => undefined;

  constructor(socket: HostSocket, view: View, program: Program, paint: (view: View) => Painted) {
    this.#program = program;
    this.#paint = paint;
    this.#screen = new Screen(openTerminal(), () => this.#finish(1));
    this.#shown = paint(view).shown;
    this.#session = new Session(socket, view, this.#shown, () => this.#draw());
    socket.on('state', (state) => {
      if (state.state === 'closed' && state.error !== undefined) this.#finish(state.error);
    });
    this.ended = new Promise<number>((resolve, reject) => {
      this.#finish = (result) => {
        this.#leave();
        if (typeof result === 'number') resolve(result);
        else reject(result);
      };
    }).finally(this.#listen());
    this.#session.run().catch((error: Error) => this.#finish(error));
    this.#enter();
  }

  /** Returns a function that undoes it. */
  #listen(): () => void {
    const { stdin, stdout } = this.#program;
    const program: Emitter = this.#program;
    const ticker = setInterval(() => this.#draw(), TICK_MS);
    const onResize = () => {
      this.#screen.clear();
      this.#draw();
    };
    const onKey = (_text: string | undefined, key: Key) => this.#press(key);
    const onGone = () => this.#finish(1);
    emitKeypressEvents(stdin);
    const listeners: readonly Listener[] = [
      [stdin, 'keypress', onKey],
      [stdin, 'end', onGone],
      [stdin, 'error', onGone],
      [stdout, 'resize', onResize],
      [stdout, 'error', onGone],
      [program, 'SIGTSTP', this.#suspend],
      // Also after SIGSTOP, which nobody can catch.
      [program, 'SIGCONT', () => this.#enter()],
      // Before the error is printed.
      [program, 'uncaughtExceptionMonitor', () => this.#leave()],
      [program, 'exit', () => this.#leave()],
      ...Object.entries(SIGNALS).map(
        ([name, number]): Listener => [program, name, () => this.#finish(128 + number)],
      ),
    ];
    for (const [emitter, event, listener] of listeners) emitter.on(event, listener);
    return () => {
      for (const [emitter, event, listener] of listeners) emitter.off(event, listener);
      clearInterval(ticker);
      this.#session.close();
      stdin.pause();
    };
  }

  #draw(): void {
    try {
      const { lines, shown } = this.#paint(this.#session.view);
      this.#shown = shown;
      this.#screen.draw(lines);
    } catch (error) {
      this.#finish(new Error('the answers of this service are not those of hostwire', { cause: error }));
    }
  }

  #enter(): void {
    // The shell may have changed it meanwhile; a mode that is set again is not applied.
    this.#program.stdin.setRawMode(false);
    this.#program.stdin.setRawMode(true);
    this.#screen.enter();
    this.#draw();
  }

  #leave(): void {
    this.#screen.leave();
    this.#program.stdin.setRawMode(false);
  }

  readonly #suspend = (): void => {
    const program: Emitter = this.#program;
    this.#leave();
    program.off('SIGTSTP', this.#suspend);
    this.#program.kill(this.#program.pid, 'SIGTSTP');
    // Runs when it is continued; or at once where no shell could continue it, because the signal then does nothing.
    setTimeout(() => {
      program.on('SIGTSTP', this.#suspend);
      this.#enter();
    }, CONTINUE_MS);
  };

  #press(key: Key): void {
    if (key.name === 'paste-start' || key.name === 'paste-end') {
      this.#isPasting = key.name === 'paste-start';
      return;
    }
    const { view: before } = this.#session;
    // What is pasted is text, and no command.
    if (this.#isPasting && !before.isTyping) return;
    const { view, wish } = press(before, key, this.#shown);
    if (wish === 'quit') this.#finish(0);
    else if (wish === 'suspend') this.#suspend();
    else if (wish === 'redraw') this.#enter();
    else {
      this.#session.take(view, this.#shown);
      if (wish !== undefined) void this.#session.end(wish);
    }
  }
}
