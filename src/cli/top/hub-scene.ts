/** The machines of a hub on a terminal, until one is opened. */
import type { Key } from 'node:readline';
import { messageOf } from '../../errors.ts';
import type { Painted, Scene } from './display.ts';
import type { TerminalAction } from './keys.ts';
import { type Fleet, type Machines, pressMachines, type Samples } from './machines.ts';

const INTERVAL_MS = 2000;

export interface HubLink<Opened> {
  readonly readFleet: () => Promise<Fleet>;
  readonly follow: (onChange: (samples: Samples) => void) => { readonly close: () => void };
  /** Resolves when the machine has answered. */
  readonly open: (id: string) => Promise<Opened>;
  /** Closes a machine that was opened after the list was left. */
  readonly close: (opened: Opened) => void;
}

export class HubScene<Opened> implements Scene<Opened> {
  readonly isTyping = false;
  readonly #link: HubLink<Opened>;
  readonly #paint: (view: Machines) => Painted;
  #view: Machines;
  #shown = 1;
  #isOpening = false;
  #timer: NodeJS.Timeout | undefined;
  #samples: { readonly close: () => void } | undefined;
  #isClosed = false;
  #onChange: () => void = () => undefined;
  #take: (opened: Opened) => void = () => undefined;

  constructor(link: HubLink<Opened>, view: Machines, paint: (view: Machines) => Painted) {
    this.#link = link;
    this.#view = view;
    this.#paint = paint;
  }

  /** Returns the current view. */
  get view(): Machines {
    return this.#view;
  }

  paint(): readonly string[] {
    const { lines, shown } = this.#paint(this.#view);
    this.#shown = shown;
    return lines;
  }

  press(key: Key): TerminalAction | undefined {
    const { view, action } = pressMachines(this.#view, key, this.#shown);
    if (typeof action === 'string') return action;
    this.#change(view);
    if (action !== undefined && !this.#isOpening) void this.#open(action.open);
    return undefined;
  }

  async #open(id: string): Promise<void> {
    this.#isOpening = true;
    this.#change({ note: `opening ${id} …` });
    try {
      const opened = await this.#link.open(id);
      // The list may have been left in the meantime, and an open connection would keep the program running.
      if (this.#isClosed) this.#link.close(opened);
      else this.#take(opened);
    } catch (error) {
      this.#change({ note: `${id}: ${messageOf(error)}` });
    }
    this.#isOpening = false;
  }

  run(onChange: () => void): Promise<Opened> {
    this.#onChange = onChange;
    this.#schedule();
    this.#samples = this.#link.follow((samples) => this.#change({ samples }));
    return new Promise((resolve) => {
      this.#take = resolve;
    });
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#samples?.close();
  }

  /** The next list is requested when the last one has arrived, so that nothing queues on a slow link. */
  #schedule(): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#link
        .readFleet()
        .then(
          (fleet) => this.#change(fleet),
          (error: Error) => this.#change({ note: error.message }),
        )
        .finally(() => this.#schedule());
    }, INTERVAL_MS);
  }

  #change(changed: Partial<Machines>): void {
    this.#view = { ...this.#view, ...changed };
    if (!this.#isClosed) this.#onChange();
  }
}
