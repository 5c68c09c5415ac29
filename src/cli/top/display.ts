/** Shows a scene on a terminal, until a key, a signal or the service ends it. The terminal is always restored. */
import { emitKeypressEvents, type Key } from 'node:readline';
import type { TerminalAction } from './keys.ts';
import { openTerminal, Screen } from './screen.ts';

/** A screen as text. */
export interface Painted {
  readonly lines: readonly string[];
  /** Number of rows of the list that are visible. */
  readonly shown: number;
}

/** The content of the screen, and the effect of its keys. */
export interface Scene<R> {
  /** Text is being typed: pasted text is a part of it. */
  readonly isTyping: boolean;
  /** Returns the current lines. Throws if the service does not answer like hostwire. */
  paint(): readonly string[];
  press(key: Key): TerminalAction | undefined;
  /** Keeps it current. Resolves when a key has ended it; rejects with the reason if the service has. */
  run(onChange: () => void): Promise<R>;
  close(): void;
}

/** The parts of `process` that are used. */
type Emitter = Pick<NodeJS.EventEmitter, 'on' | 'off'>;
export type Program = Pick<NodeJS.Process, 'stdin' | 'stdout' | 'kill' | 'pid'> & Emitter;

type Listener = readonly [Emitter, string, Parameters<Emitter['on']>[1]];

const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;
/** Ages and positions advance between samples. */
const TICK_MS = 1000;
const CONTINUE_MS = 20;

export class Display<R> {
  /** Resolves with the result of the scene, or with an exit code; rejects as the scene. */
  readonly ended: Promise<R | number>;
  readonly #program: Program;
  readonly #scene: Scene<R>;
  readonly #screen: Screen;
  #isPasting = false;
  #finish: (result: R | number | Error) => void = () => undefined;

  constructor(scene: Scene<R>, program: Program) {
    this.#program = program;
    this.#scene = scene;
    this.#screen = new Screen(openTerminal(), () => this.#finish(1));
    // An answer that cannot be drawn is an error before the terminal is changed.
    scene.paint();
    this.ended = new Promise<R | number>((resolve, reject) => {
      this.#finish = (result) => {
        this.#leave();
        if (result instanceof Error) reject(result);
        else resolve(result);
      };
    }).finally(this.#listen());
    scene
      .run(() => this.#draw())
      .then(
        (result) => this.#finish(result),
        (error: Error) => this.#finish(error),
      );
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
      // Also after SIGSTOP, which no program can catch.
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
      this.#scene.close();
      stdin.pause();
    };
  }

  #draw(): void {
    try {
      this.#screen.draw(this.#scene.paint());
    } catch (error) {
      this.#finish(new Error('the server at this address is not a hostwire service', { cause: error }));
    }
  }

  #enter(): void {
    // The shell may have changed it in the meantime; setting the current mode again has no effect.
    this.#program.stdin.setRawMode(false);
    this.#program.stdin.setRawMode(true);
    this.#program.stdin.resume();
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
    // Runs when it is continued; or immediately if no shell could continue it, because the signal then does
    // nothing.
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
    // Pasted text is never a command.
    if (this.#isPasting && !this.#scene.isTyping) return;
    const act = this.#scene.press(key);
    if (act === 'quit') this.#finish(0);
    else if (act === 'suspend') this.#suspend();
    else if (act === 'redraw') this.#enter();
  }
}
