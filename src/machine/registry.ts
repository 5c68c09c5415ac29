/**
 * What a hub knows of each machine, also when it is gone: in memory, and over restarts in one file with a line of JSON
 * per machine, which is written in one step.
 */
import { readFileSync, statSync } from 'node:fs';
import { type Clock, settlesWithin } from '../clock.ts';
import { codeOf, messageOf } from '../errors.ts';
import { QUOTAS, REMEMBERED } from '../fairness/limits.ts';
import { ALL_SECTIONS } from '../host/host.ts';
import { type JsonObject, membersOf, parseObject } from '../json.ts';
import type { Log } from '../log/log.ts';
import { replaceFile } from '../replace-file.ts';
import { HOST_STATES } from '../wire/host-states.ts';
import type { HostState } from '../wire/hub.ts';
import {
  factsOf,
  lastFigures,
  type MachineFacts,
  plainFigures,
  plainSystem,
  readFacts,
  share,
} from './last-values.ts';

export interface Condition {
  readonly state: HostState;
  /** Unix seconds. */
  readonly since: number;
  readonly reason?: string;
}

/** A machine as its hub has it now. */
export interface Noted {
  readonly id: string;
  readonly condition: Condition;
  /** The last that it reported. */
  readonly status: Described | undefined;
  /** Its newest sample, as the JSON of its payload. */
  readonly newest: { readonly takenAtMs: number; readonly payload: Buffer } | undefined;
}

interface Described {
  readonly run: string;
  readonly name: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
}

/** A machine that was there once. */
export type Remembered = Omit<Described, 'run'> & { readonly condition: Condition };

/** An answer as JSON, without `as_of`, and the time of its values in Unix seconds. */
interface Values {
  readonly asOf: number;
  readonly json: string;
}

interface Entry extends Remembered {
  /** When it was there last, in Unix seconds. */
  readonly seen: number;
  readonly facts?: MachineFacts | undefined;
  /** The run that `facts` and `system` are of. */
  readonly run?: string | undefined;
  readonly system?: Values | undefined;
  readonly last?: Values | undefined;
}

export interface RegistryOptions {
  /** undefined: it is kept in memory alone. */
  readonly path: string | undefined;
  readonly clock: Pick<Clock, 'now' | 'setTimer' | 'clearTimer'>;
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** The machines that the hub has now. */
  readonly machines: () => Iterable<Noted>;
  /** Called when a machine is there whose facts of this run are not known. */
  readonly onNewRun: (id: string) => void;
  /** Milliseconds of Unix time. */
  readonly unixMs?: () => number;
}

const WRITE_MS = 30_000;
/** Maximum time for the last write, which only a disk that hangs takes: systemd ends a unit after 5 s. */
const LAST_WRITE_MS = 4000;
const FORGET_SECONDS = 30 * 86_400;
/** Machines whose lines are made and written in one turn of the event loop: 0.3 ms. */
const PER_WRITE = 128;
/** Answers of clients renew what is kept of a machine after this time. */
const RENEW_MS = 30_000;

const NOT_REACHED = 'not reached since the hub started';

export class Registry {
  readonly #options: RegistryOptions;
  readonly #unixMs: () => number;
  /** In the order in which they were seen last. */
  readonly #entries = new Map<string, Entry>();
  #timer: unknown;
  #writing: Promise<void> = Promise.resolve();
  #hasFailed = false;
  #isClosed = false;

  constructor(options: RegistryOptions) {
    this.#options = options;
    this.#unixMs = options.unixMs ?? Date.now;
    if (options.path !== undefined) this.#read(options.path);
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Returns what is known of a machine that was there before; undefined: it never was. */
  recall(id: string): Remembered | undefined {
    return this.#entries.get(id);
  }

  facts(id: string): MachineFacts {
    return this.#entries.get(id)?.facts ?? {};
  }

  /** The last values of these sections with `as_of`, as JSON; undefined: none are known. */
  usage(id: string, sections = ALL_SECTIONS): string | undefined {
    const last = this.#entries.get(id)?.last;
    if (last === undefined || sections === ALL_SECTIONS) return last && withTime(last);
    return withTime({ ...last, json: JSON.stringify(plainFigures(parseObject(last.json) ?? {}, sections)) });
  }

  /** The last answer of /api/system with `as_of`, as JSON; undefined: none is known. */
  system(id: string): string | undefined {
    const system = this.#entries.get(id)?.system;
    return system && withTime(system);
  }

  /** Reads what has changed of a machine: its condition, its name, its newest sample. `described`: what it says of itself. */
  note(machine: Noted, described?: MachineFacts): void {
    if (this.#isClosed) return;
    const { id, condition, status } = machine;
    const isUp = condition.state === 'up';
    const known = this.#entries.get(id);
    // One that was never there has nothing to be remembered.
    if (known === undefined && !isUp) return;
    const { name = known?.name, labels = known?.labels ?? {} } = status ?? {};
    const seen = isUp || known === undefined ? this.#unixMs() / 1000 : known.seen;
    const last = this.#newestOf(machine) ?? known?.last;
    const facts = described === undefined ? known?.facts : { ...known?.facts, ...knownOf(described) };
    this.#put(id, { ...known, name, labels, condition, seen, last, facts }, isUp);
    if (isUp && status !== undefined && known?.run !== status.run) this.#options.onNewRun(id);
  }

  /** Takes its answer of /api/system with `detail`, which it gave in `run`. */
  takeSystem(id: string, run: string, system: JsonObject): void {
    const known = this.#entries.get(id);
    if (known === undefined || this.#isClosed) return;
    const asOf = this.#unixMs() / 1000;
    const found = factsOf(system);
    // Its greeting is newer than the answer.
    const facts = { ...found, ...known.facts, wakes: found.wakes };
    this.#put(id, { ...known, run, facts, system: { asOf, json: plainSystem(system) } });
  }

  /** Takes a payload with all sections, unless newer values are known than of half a minute ago. */
  takeUsage(id: string, payload: () => JsonObject | undefined): void {
    const known = this.#entries.get(id);
    const asOf = this.#unixMs() / 1000;
    if (known === undefined || this.#isClosed || asOf - (known.last?.asOf ?? 0) < RENEW_MS / 1000) return;
    const figures = payload();
    if (figures !== undefined)
      this.#put(id, { ...known, last: { asOf, json: lastFigures(figures, ALL_SECTIONS) } });
  }

  /** Drops what is known: another machine has the id now. */
  forget(id: string): void {
    if (!this.#isClosed && this.#entries.delete(id)) this.#arm();
  }

  /** Writes the last time. Never rejects. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    for (const machine of this.#options.machines()) if (machine.newest !== undefined) this.note(machine);
    this.#isClosed = true;
    this.#options.clock.clearTimer(this.#timer);
    if (this.#options.path !== undefined && !(await settlesWithin(this.#write(), LAST_WRITE_MS)))
      this.#options.log.warn(`hub.state_path: the disk does not answer, the last changes are not kept`);
  }

  #newestOf({ id, newest }: Noted): Values | undefined {
    if (newest === undefined) return undefined;
    const asOf = (this.#unixMs() - (this.#options.clock.now() - newest.takenAtMs)) / 1000;
    // The same one.
    if (Math.abs(asOf - (this.#entries.get(id)?.last?.asOf ?? 0)) < 0.01) return undefined;
    const payload = parseObject(newest.payload);
    return payload && { asOf, json: lastFigures(payload, ALL_SECTIONS) };
  }

  #put(id: string, entry: Entry, isSeen = false): void {
    if (isSeen) this.#entries.delete(id);
    this.#entries.set(id, compact(entry));
    const [oldest] = this.#entries.size > REMEMBERED.machines ? this.#entries.keys() : [];
    if (oldest !== undefined) this.#entries.delete(oldest);
    this.#arm();
  }

  #arm(): void {
    if (this.#options.path === undefined || this.#isClosed) return;
    this.#timer ??= this.#options.clock.setTimer(() => {
      this.#timer = undefined;
      void this.#write();
    }, WRITE_MS);
  }

  /** One at a time. Never rejects. */
  #write(): Promise<void> {
    const { path: file, log } = this.#options;
    const write = async () => {
      if (file === undefined) return;
      try {
        await replaceFile(file, this.#lines());
        if (this.#hasFailed) log.info('hub.state_path: it can be written again');
        this.#hasFailed = false;
      } catch (error) {
        if (!this.#hasFailed) log.warn(`hub.state_path: it cannot be written: ${messageOf(error)}`);
        this.#hasFailed = true;
        this.#arm();
      }
    };
    this.#writing = this.#writing.then(write);
    return this.#writing;
  }

  /** The samples of watched machines are noted on the way: while there are some, a write follows in half a minute. */
  *#lines(): Generator<string> {
    const oldest = this.#unixMs() / 1000 - FORGET_SECONDS;
    const present = new Map([...this.#options.machines()].map((machine) => [machine.id, machine]));
    let lines: string[] = [];
    for (const id of [...this.#entries.keys()]) {
      const machine = present.get(id);
      if (machine?.newest !== undefined) this.note(machine);
      const entry = this.#entries.get(id);
      if (entry === undefined) continue;
      if (machine === undefined && entry.seen < oldest) this.#entries.delete(id);
      else lines.push(`${JSON.stringify({ id, ...entry })}\n`);
      if (lines.length < PER_WRITE) continue;
      yield lines.join('');
      lines = [];
    }
    yield lines.join('');
  }

  /** Of a file that cannot be read, or a line that is not one of this file, nothing is taken. */
  #read(file: string): void {
    const { log } = this.#options;
    try {
      const facts = statSync(file);
      if (!facts.isFile() || facts.size > QUOTAS.registryFile.maxBytes)
        throw new Error('it is not a file, or too large');
      const lines = readFileSync(file, 'utf8').split('\n');
      const broken = lines.filter((line) => line !== '' && !this.#readLine(line)).length;
      if (broken > 0) log.warn(`hub.state_path: ${broken} of ${lines.length} lines cannot be read`);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') log.warn(`hub.state_path: it cannot be read: ${messageOf(error)}`);
    }
  }

  #readLine(line: string): boolean {
    const value = parseObject(line);
    const { id } = value ?? {};
    const entry = value && readEntry(value, this.#unixMs() / 1000);
    if (typeof id !== 'string' || entry === undefined) return false;
    this.#entries.set(id, compact(entry));
    return true;
  }
}

/** The facts that are there. */
const knownOf = ({ version, os, model, addresses = [] }: MachineFacts): MachineFacts => ({
  ...(version !== undefined && { version: share(version) }),
  ...(os !== undefined && { os: share(os) }),
  ...(model !== undefined && { model: share(model) }),
  ...(addresses.length > 0 && { addresses }),
});

/** The same in an object literal, which takes 300 bytes less than what spreading has made. */
const compact = ({ name, labels, condition, seen, facts, run, system, last }: Entry): Entry => ({
  name,
  labels,
  condition,
  seen,
  facts,
  run,
  system,
  last,
});

/** The same object with `as_of` before its members, to the millisecond. */
const withTime = ({ asOf, json }: Values) => `{"as_of":${Math.round(asOf * 1000) / 1000},${json.slice(1)}`;

const isTime = (value: unknown): value is number =>
  typeof value === 'number' && value >= 0 && value < Number.MAX_SAFE_INTEGER;

function readValues(value: unknown): Values | undefined {
  const { asOf, json } = membersOf(value);
  const isValid = isTime(asOf) && typeof json === 'string' && parseObject(json) !== undefined;
  return isValid ? { asOf, json } : undefined;
}

/** `now`: Unix seconds. undefined: it is not an entry. */
function readEntry(value: JsonObject, now: number): Entry | undefined {
  const { name, labels, condition, seen, run, facts } = value;
  const { state, since, reason } = membersOf(condition);
  const known = HOST_STATES.find((each) => each === state);
  if (known === undefined || !isTime(since) || !isTime(seen)) return undefined;
  const texts = Object.entries(membersOf(labels)).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  const [system, last] = [readValues(value['system']), readValues(value['last'])];
  return {
    name: typeof name === 'string' ? name : undefined,
    labels: Object.fromEntries(texts),
    condition:
      known === 'up'
        ? { state: 'down', since: now, reason: NOT_REACHED }
        : { state: known, since, ...(typeof reason === 'string' && { reason }) },
    seen,
    facts: readFacts(membersOf(facts)),
    run: typeof run === 'string' ? run : undefined,
    system,
    last,
  };
}
