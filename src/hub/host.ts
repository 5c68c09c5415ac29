/** One machine of the hub: whether its agent is there, when it is tried again, and the samples that viewers want. */
import { isDeepStrictEqual } from 'node:util';
import type { AgentEntry } from '../config/hub-rows.ts';
import { ServiceError } from '../errors.ts';
import type { View } from '../stats/view.ts';
import type { HostRow, HostState } from '../wire/hub.ts';
import { Answers } from './answers.ts';
import { Lane, type LaneOwner, queryOf } from './lane.ts';
import type { HubParts } from './parts.ts';
import { checkPresence, type Presence } from './presence.ts';
import type { Failure } from './pull/request.ts';
import { type Target, targetOf } from './pull/target.ts';

/** As the service: younger samples answer a request. */
const USAGE_AGE_MS = 1000;
const SYSTEM_AGE_MS = 10_000;

export interface Condition {
  readonly state: HostState;
  /** Unix seconds. */
  readonly since: number;
  readonly reason?: string;
}

const unixSeconds = () => Date.now() / 1000;

export class Host implements LaneOwner {
  readonly id: string;
  readonly #parts: HubParts;
  #entry: AgentEntry;
  #target: Target;
  #name: string | undefined;
  #condition: Condition = { state: 'down', since: unixSeconds(), reason: 'it was not reached yet' };
  /** Changes with the condition. */
  version = 0;
  #plain: Lane | undefined;
  #detailed: Lane | undefined;
  /** The next attempt, or the next check of an agent that nobody watches. */
  #timer: unknown;
  #failures = 0;
  #check: Presence | undefined;
  readonly #answers: Answers;
  #isClosed = false;

  /** `spreadMs`: its first check begins within this time. */
  constructor(id: string, entry: AgentEntry, parts: HubParts, spreadMs: number) {
    this.id = id;
    this.#parts = parts;
    this.#entry = entry;
    this.#target = targetOf(entry);
    this.#answers = new Answers(parts.clock, parts.times);
    this.#attemptIn(parts.random() * spreadMs);
  }

  get target(): Target {
    return this.#target;
  }

  get labels(): Readonly<Record<string, string>> {
    return this.#entry.labels;
  }

  get condition(): Condition {
    return this.#condition;
  }

  get isUp(): boolean {
    return this.#condition.state === 'up';
  }

  get lanes(): readonly Lane[] {
    return [this.#plain, this.#detailed].filter((lane) => lane !== undefined);
  }

  get row(): HostRow {
    const samples = this.lanes.flatMap(({ newest }) => (newest === undefined ? [] : [newest.takenAtMs]));
    const age =
      samples.length === 0 ? null : Math.round(this.#parts.clock.now() - Math.max(...samples)) / 1000;
    const name = this.#name ?? this.id;
    return { id: this.id, name, labels: this.labels, ...this.#condition, sample_age: age };
  }

  laneOf({ withDetail }: View): Lane {
    if (withDetail) {
      this.#detailed ??= new Lane(this.#parts, this, true);
      return this.#detailed;
    }
    this.#plain ??= new Lane(this.#parts, this, false);
    return this.#plain;
  }

  /** The payload of one sample, at most a second old. Rejects with ServiceError. */
  async usage(view: View): Promise<Buffer> {
    const current = (view.withDetail ? this.#detailed : this.#plain)?.current;
    const isYoung = current !== undefined && this.#parts.clock.now() - current.takenAtMs < USAGE_AGE_MS;
    if (isYoung && current.has(view) && current.isValid) return current.payload(view);
    return await this.#get(`/api/usage${queryOf(view.sections, view.withDetail)}`, USAGE_AGE_MS);
  }

  async system(withDetail: boolean): Promise<Buffer> {
    return await this.#get(`/api/system${withDetail ? '?detail=1' : ''}`, SYSTEM_AGE_MS);
  }

  async #get(path: string, ageMs: number): Promise<Buffer> {
    if (!this.isUp) throw this.refusal();
    return await this.#answers.get(this.#target, path, ageMs);
  }

  /** Another entry of the same id: viewers stay. */
  reconfigure(entry: AgentEntry): void {
    const isSame = isDeepStrictEqual({ ...entry, labels: {} }, { ...this.#entry, labels: {} });
    this.#entry = entry;
    if (isSame) return;
    this.#target = targetOf(entry);
    this.#name = undefined;
    this.#answers.clear();
    for (const lane of this.lanes) lane.disconnect();
    this.#check?.close();
    this.#check = undefined;
    this.#set({ state: 'down', reason: 'its entry in hub.agents has changed, and it was not reached since' });
    this.#attemptIn(0);
  }

  /** Ends all streams; returns how many still have to take what they were sent before. */
  close(): number {
    this.#isClosed = true;
    this.#parts.clock.clearTimer(this.#timer);
    this.#answers.clear();
    this.#check?.close();
    return this.lanes.reduce((full, lane) => full + lane.close(), 0);
  }

  heard(): void {
    this.#failures = 0;
    if (!this.isUp) this.#set({ state: 'up' });
  }

  failed({ isRefusal, reason }: Failure): void {
    if (this.#isClosed) return;
    // A stream of the other lane is open: it is there.
    if (!this.lanes.some((lane) => lane.current !== undefined))
      this.#set({ state: isRefusal ? 'refused' : 'down', reason });
    const { initialDelayMs, maxDelayMs } = this.#parts.times;
    const step = Math.min(maxDelayMs, initialDelayMs * 2 ** this.#failures++);
    this.#attemptIn(step * (1 - this.#parts.random() / 2));
  }

  changed(): void {
    if (this.#isClosed) return;
    for (const lane of this.lanes) if (!lane.isWanted) this.#drop(lane);
    // While it is down the next attempt comes by itself.
    if (!this.isUp) return;
    if (this.lanes.length === 0) this.#attemptIn(this.#parts.times.presenceMs);
    else this.#connect();
  }

  refusal(): ServiceError {
    const { state, reason = '' } = this.#condition;
    const message = state === 'refused' ? 'The machine refuses this hub.' : 'The machine cannot be reached.';
    return new ServiceError('host_unreachable', message, { state, reason });
  }

  #set(condition: Omit<Condition, 'since'>): void {
    const { state, reason } = this.#condition;
    if (state === condition.state && reason === condition.reason) return;
    const { log } = this.#parts;
    // Since the state began, whatever the reasons were.
    const since = state === condition.state ? this.#condition.since : unixSeconds();
    if (condition.state === 'up') log.info(`host ${this.id} is up`);
    else if (state !== condition.state || this.version === 0)
      log.warn(`host ${this.id} is ${condition.state}: ${condition.reason}`);
    this.#condition = { ...condition, since };
    this.version++;
  }

  #drop(lane: Lane): void {
    lane.close();
    if (lane === this.#plain) this.#plain = undefined;
    else this.#detailed = undefined;
  }

  #attemptIn(delayMs: number): void {
    if (this.#isClosed) return;
    const { clock } = this.#parts;
    clock.clearTimer(this.#timer);
    this.#timer = clock.setTimer(() => this.#attempt(), delayMs);
  }

  #attempt(): void {
    this.#timer = undefined;
    if (this.lanes.length > 0) this.#connect();
    else if (this.#check === undefined) this.#begin();
  }

  #connect(): void {
    for (const lane of this.lanes) if (!lane.isLinked) lane.connect();
  }

  #begin(): void {
    const { times, counters, random } = this.#parts;
    counters.connections++;
    const done = (failure: Failure | undefined) => {
      // It was given up when its answer had arrived already.
      if (check !== this.#check) return;
      this.#check = undefined;
      if (failure !== undefined) {
        counters.failures++;
        this.failed(failure);
        return;
      }
      this.heard();
      if (this.lanes.length > 0) this.#connect();
      else this.#attemptIn(times.presenceMs * (0.9 + random() / 5));
    };
    const onName = (name: string) => {
      if (check === this.#check) this.#name = name;
    };
    const check = checkPresence(
      this.#target,
      times.headMs,
      done,
      this.#name === undefined ? onName : undefined,
    );
    this.#check = check;
  }
}
