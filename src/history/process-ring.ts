/** The programs with most use of each moment, in typed arrays: 259 bytes per moment, and each name once. */
import type { ProcessUse } from '../wire/history.ts';
import { SLOT_SECONDS, type Slot } from './history.ts';
import { TOP_NAMES } from './process-uses.ts';

/** The programs that ran at one moment. */
export type ProcessMoment = NonNullable<Slot['processes']>;

const KINDS = ['cpu', 'memory', 'disk'] as const;
const ROWS = KINDS.length * TOP_NAMES;
/** Stands for a list that was not read, in place of a count of rows. */
const NOT_READ = -1;

/** Maximum age of the nearest earlier moment, if no window contains the requested time. */
const NEAREST_SECONDS = 70;

/** Stores names under small numbers, as long as a moment uses them. */
class Names {
  readonly #ids = new Map<string, number>();
  readonly #names: string[] = [];
  readonly #uses: number[] = [];
  readonly #unused: number[] = [];

  get size(): number {
    return this.#ids.size;
  }

  take(name: string): number {
    const id = this.#ids.get(name) ?? this.#unused.pop() ?? this.#names.length;
    this.#ids.set(name, id);
    this.#names[id] = name;
    this.#uses[id] = (this.#uses[id] ?? 0) + 1;
    return id;
  }

  release(id: number): void {
    const uses = (this.#uses[id] ?? 0) - 1;
    this.#uses[id] = uses;
    if (uses > 0) return;
    this.#ids.delete(this.at(id));
    this.#names[id] = '';
    this.#unused.push(id);
  }

  at(id: number): string {
    return this.#names[id] ?? '';
  }
}

export class ProcessRing {
  readonly #capacity: number;
  readonly #takenAt: Float64Array;
  readonly #windows: Float64Array;
  readonly #lengths: Int8Array;
  readonly #values: Float64Array;
  readonly #counts: Uint32Array;
  readonly #nameIds: Uint32Array;
  readonly #names = new Names();
  /** Index of the next moment. */
  #next = 0;
  #size = 0;

  constructor(minutes: number) {
    this.#capacity = Math.ceil((minutes * 60) / SLOT_SECONDS) + 1;
    this.#takenAt = new Float64Array(this.#capacity);
    this.#windows = new Float64Array(this.#capacity);
    this.#lengths = new Int8Array(this.#capacity * KINDS.length);
    this.#values = new Float64Array(this.#capacity * ROWS);
    this.#counts = new Uint32Array(this.#capacity * ROWS);
    this.#nameIds = new Uint32Array(this.#capacity * ROWS);
  }

  /** Returns the size without the names. */
  get byteLength(): number {
    const columns = [this.#takenAt, this.#windows, this.#lengths, this.#values, this.#counts, this.#nameIds];
    return columns.reduce((sum, column) => sum + column.byteLength, 0);
  }

  get size(): number {
    return this.#size;
  }

  /** Returns the number of distinct names. */
  get nameCount(): number {
    return this.#names.size;
  }

  /** Adds a moment; later ones belong to another time, because the machine's clock has been set back. */
  put(moment: ProcessMoment): void {
    while (this.#size > 0 && this.#timeOf(this.#size - 1) >= moment.takenAt) this.#dropNewest();
    const place = this.#next;
    if (this.#size === this.#capacity) this.#release(place);
    else this.#size++;
    this.#next = (place + 1) % this.#capacity;
    this.#takenAt[place] = moment.takenAt;
    this.#windows[place] = moment.windowSeconds ?? Number.NaN;
    KINDS.forEach((kind, i) => {
      this.#write(place * KINDS.length + i, moment[kind]);
    });
  }

  /** Returns the moment whose window contains `at`, in Unix seconds; otherwise the nearest one before it. */
  at(at: number): ProcessMoment | undefined {
    for (let index = this.#size - 1; index >= 0; index--) {
      const takenAt = this.#timeOf(index);
      if (takenAt < at) return at - takenAt <= NEAREST_SECONDS ? this.#read(index) : undefined;
      const window = this.#windows[this.#place(index)] ?? Number.NaN;
      if (takenAt === at || takenAt - window < at) return this.#read(index);
    }
    return undefined;
  }

  get newest(): ProcessMoment | undefined {
    return this.#size === 0 ? undefined : this.#read(this.#size - 1);
  }

  /** Returns the last moment in [from, until). */
  within(from: number, until: number): ProcessMoment | undefined {
    for (let index = this.#size - 1; index >= 0; index--) {
      const takenAt = this.#timeOf(index);
      if (takenAt < from) return undefined;
      if (takenAt < until) return this.#read(index);
    }
    return undefined;
  }

  /** Yields all of them, the oldest first. */
  *[Symbol.iterator](): Iterator<ProcessMoment> {
    for (let index = 0; index < this.#size; index++) yield this.#read(index);
  }

  /** `index`: 0 is the oldest one. */
  #place(index: number): number {
    return (this.#next - this.#size + index + this.#capacity) % this.#capacity;
  }

  #timeOf(index: number): number {
    return this.#takenAt[this.#place(index)] ?? 0;
  }

  #dropNewest(): void {
    this.#next = this.#place(this.#size - 1);
    this.#size--;
    this.#release(this.#next);
  }

  #release(place: number): void {
    for (let list = place * KINDS.length; list < (place + 1) * KINDS.length; list++)
      for (let i = 0; i < (this.#lengths[list] ?? 0); i++)
        this.#names.release(this.#nameIds[list * TOP_NAMES + i] ?? 0);
  }

  #write(list: number, uses: readonly ProcessUse[] | null): void {
    this.#lengths[list] = uses?.length ?? NOT_READ;
    uses?.slice(0, TOP_NAMES).forEach(({ name, count, value }, i) => {
      const row = list * TOP_NAMES + i;
      this.#nameIds[row] = this.#names.take(name);
      this.#counts[row] = count;
      this.#values[row] = value;
    });
  }

  #read(index: number): ProcessMoment {
    const place = this.#place(index);
    const window = this.#windows[place] ?? Number.NaN;
    const usesOf = (kind: number) => this.#uses(place * KINDS.length + kind);
    return {
      takenAt: this.#takenAt[place] ?? 0,
      windowSeconds: Number.isNaN(window) ? null : window,
      cpu: usesOf(0),
      memory: usesOf(1),
      disk: usesOf(2),
    };
  }

  #uses(list: number): readonly ProcessUse[] | null {
    const length = this.#lengths[list] ?? NOT_READ;
    if (length === NOT_READ) return null;
    return Array.from({ length }, (_, i) => {
      const row = list * TOP_NAMES + i;
      return {
        name: this.#names.at(this.#nameIds[row] ?? 0),
        count: this.#counts[row] ?? 0,
        value: this.#values[row] ?? 0,
      };
    });
  }
}
