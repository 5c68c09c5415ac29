/** A machine that the hub connects to: whether its agent is there, and when it is tried again. */
import { isDeepStrictEqual } from 'node:util';
import type { ServiceError } from '../../errors.ts';
import type { View } from '../../stats/view.ts';
import type { HostRow } from '../../wire/hub.ts';
import { Answers } from '../host/answers.ts';
import type { Ask, Asker, HostAnswer } from '../host/ask.ts';
import type { Host } from '../host/host.ts';
import type { AgentStream, Lane, LaneOwner, StreamSink } from '../host/lane.ts';
import { Lanes } from '../host/lanes.ts';
import type { HubParts } from '../host/parts.ts';
import { type Condition, Standing } from '../host/standing.ts';
import type { Failure } from '../pull/socket.ts';
import { type PulledEntry, type Target, targetOf } from '../pull/target.ts';
import { Pulled } from './pulled.ts';
import { openPulledStream } from './pulled-stream.ts';

/** A machine of `hub.agents` that the hub connects to. */
export class PulledHost implements Host, LaneOwner {
  readonly id: string;
  readonly #parts: HubParts;
  #entry: PulledEntry;
  #target: Target;
  #name: string | undefined;
  readonly #standing: Standing;
  readonly #lanes: Lanes;
  /** The next attempt, or the next check of an agent that nobody watches. */
  #timer: unknown;
  #failures = 0;
  /** When the last attempt began. */
  #begunAtMs = Number.NEGATIVE_INFINITY;
  /** A check under way; another object means that it was given up. */
  #check: object | undefined;
  #reach: Pulled;
  readonly #answers: Answers;
  #isClosed = false;

  /** `spreadMs`: its first check begins within this time. */
  constructor(id: string, entry: PulledEntry, parts: HubParts, spreadMs: number) {
    this.id = id;
    this.#parts = parts;
    this.#entry = entry;
    this.#target = targetOf(entry);
    this.#reach = this.#reachOf(this.#target);
    this.#standing = new Standing(id, parts);
    this.#lanes = new Lanes(parts, this);
    this.#answers = new Answers(parts.clock);
    this.#attemptIn(parts.random() * spreadMs);
  }

  get labels(): Readonly<Record<string, string>> {
    return this.#entry.labels;
  }

  get condition(): Condition {
    return this.#standing.condition;
  }

  get version(): number {
    return this.#standing.version;
  }

  get isUp(): boolean {
    return this.#standing.isUp;
  }

  get lanes(): readonly Lane[] {
    return this.#lanes.all;
  }

  get row(): HostRow {
    return this.#lanes.row(this, this.#name);
  }

  laneOf(view: View): Lane {
    return this.#lanes.of(view);
  }

  openStream(sections: number, withDetail: boolean, sink: StreamSink): AgentStream {
    return openPulledStream(this.#target, this.#parts, { sections, withDetail }, sink);
  }

  async usage(view: View, who: Asker): Promise<Buffer> {
    return await this.#lanes.usage(this, view, who);
  }

  async system(withDetail: boolean, who: Asker): Promise<Buffer> {
    return await this.#lanes.system(this, withDetail, who);
  }

  async ask(ask: Ask): Promise<HostAnswer> {
    if (!this.isUp) throw this.refusal();
    return await this.#answers.ask(this.#reach, ask);
  }

  /** Another entry of the same id: viewers stay. */
  reconfigure(entry: PulledEntry): void {
    const isSame = isDeepStrictEqual({ ...entry, labels: {} }, { ...this.#entry, labels: {} });
    this.#entry = entry;
    if (isSame) return;
    this.#target = targetOf(entry);
    this.#name = undefined;
    this.#answers.clear();
    for (const lane of this.lanes) lane.disconnect();
    this.#check = undefined;
    this.#reach.close();
    this.#reach = this.#reachOf(this.#target);
    this.#standing.set({
      state: 'down',
      reason: 'its entry in hub.agents has changed, and it was not reached since',
    });
    this.#attemptIn(0);
  }

  close(): number {
    this.#isClosed = true;
    this.#parts.clock.clearTimer(this.#timer);
    this.#answers.clear();
    this.#check = undefined;
    this.#reach.close();
    return this.#lanes.close();
  }

  heard(): void {
    this.#failures = 0;
    if (this.isUp) return;
    this.#standing.set({ state: 'up' });
    // Watched from before its first check, it was never asked for its name.
    if (this.#name === undefined && this.#check === undefined) this.#attemptIn(0);
  }

  failed({ isRefusal, isFlood, reason }: Failure): void {
    if (this.#isClosed) return;
    const wasUp = this.isUp;
    // A stream of the other lane is open: it is there.
    if (!this.lanes.some((lane) => lane.current !== undefined))
      this.#standing.set({ state: isRefusal ? 'refused' : 'down', reason });
    const { initialDelayMs, maxDelayMs, floodMs } = this.#parts.times;
    if (isFlood === true) {
      this.#attemptIn(floodMs * (1 - this.#parts.random() / 2));
      return;
    }
    const step = Math.min(maxDelayMs, initialDelayMs * 2 ** this.#failures++);
    const waitMs = step * (1 - this.#parts.random() / 2);
    // From one attempt to the next: one that nobody answers takes seconds itself.
    const spentMs = wasUp ? 0 : this.#parts.clock.now() - this.#begunAtMs;
    this.#attemptIn(Math.max(Math.min(waitMs, initialDelayMs), waitMs - spentMs));
  }

  changed(): void {
    if (this.#isClosed) return;
    this.#lanes.dropUnwanted();
    // While it is down the next attempt comes by itself.
    if (!this.isUp) return;
    if (this.lanes.length === 0) this.#attemptIn(this.#parts.times.presenceMs);
    else this.#lanes.connect();
  }

  refusal(): ServiceError {
    return this.#standing.refusal();
  }

  #attemptIn(delayMs: number): void {
    if (this.#isClosed) return;
    const { clock } = this.#parts;
    clock.clearTimer(this.#timer);
    this.#timer = clock.setTimer(() => this.#attempt(), delayMs);
  }

  #attempt(): void {
    this.#timer = undefined;
    this.#begunAtMs = this.#parts.clock.now();
    const isWatched = this.lanes.length > 0;
    if (isWatched) this.#lanes.connect();
    const isNameWanted = this.isUp && this.#name === undefined;
    if (this.#check === undefined && (!isWatched || isNameWanted)) void this.#begin();
  }

  #reachOf(target: Target): Pulled {
    const reach: Pulled = new Pulled(this.#parts, target, {
      onTrouble: () => {
        // While it is watched its stream shows that.
        if (reach === this.#reach && this.isUp && this.lanes.length === 0 && this.#check === undefined)
          this.#attemptIn(0);
      },
    });
    return reach;
  }

  /** Finds out whether the agent is there, and the first time its name. */
  async #begin(): Promise<void> {
    const { times, random } = this.#parts;
    const check = {};
    this.#check = check;
    const found = await this.#reach.check(times.headMs, this.#name === undefined);
    // It was given up meanwhile.
    if (check !== this.#check) return;
    this.#check = undefined;
    if ('reason' in found) {
      // Its stream shows that it is there; only the name is missing.
      if (this.isUp && this.lanes.some(({ isLinked }) => isLinked)) this.#attemptIn(times.presenceMs);
      else this.failed(found);
      return;
    }
    this.#name ??= found.name;
    this.heard();
    if (this.lanes.length > 0) this.#lanes.connect();
    else this.#attemptIn(times.presenceMs * (0.9 + random() / 5));
  }
}
