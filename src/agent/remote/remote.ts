/**
 * A machine whose agent reports over a broker or over its own connection: what it says of itself, what is
 * wanted of it, and what it is asked.
 */
import type { Caller } from '../../access/caller.ts';
import type { AgentEntry } from '../../config/rows/hub-rows.ts';
import type { ServiceError } from '../../errors.ts';
import type { Condition, Noted } from '../../machine/registry.ts';
import { type View, viewOf } from '../../stats/view.ts';
import type { MachineSamples, MachineSink, MachineSubscription } from '../../streams/sample.ts';
import type { HostRow } from '../../wire/hub.ts';
import type { Leased } from '../protocol/agent-topics.ts';
import { SampleLines } from '../protocol/sample-lines.ts';
import type { Status } from '../protocol/status.ts';
import { AgentClient } from './agent-client.ts';
import type { ClockReading } from './agent-clock.ts';
import { Answers } from './answers.ts';
import type { Ask, HostAnswer, RemoteClient } from './ask.ts';
import type { Calls } from './calls.ts';
import type { RemoteDeps } from './deps.ts';
import { BadSample, type Failure } from './failure.ts';
import { type InterestMessage, type PushedSink, PushedTopics } from './pushed.ts';
import { Reachability } from './reachability.ts';
import type { HostSample } from './sample.ts';
import type { UpstreamOwner } from './upstream.ts';
import { Upstreams } from './upstreams.ts';

export interface RemoteHostDeps {
  readonly hub: RemoteDeps;
  readonly calls: Calls;
  /** The name and labels in this hub's configuration; absent: those that the agent reports. */
  readonly entry?: () => Pick<AgentEntry, 'name' | 'labels'>;
  /** Called when the interest in the machine has changed. */
  readonly onInterest: (host: RemoteHost) => void;
  /** Whether it may be asked now whether it is there. Absent: always. */
  readonly mayProbe?: (host: RemoteHost) => boolean;
  /** It has sent something that was not kept by a broker, and is up. */
  readonly onHeard?: (host: RemoteHost) => void;
  /** A viewer wants it while it is not up. */
  readonly onMissed?: () => void;
}

/** Interval of asking a machine without viewers whether it is there: the broker may have lost its last message. */
const UNWATCHED_MS = 60_000;

export class RemoteHost implements RemoteClient, MachineSamples, UpstreamOwner, Noted {
  readonly id: string;
  readonly #deps: RemoteHostDeps;
  readonly #reachability: Reachability;
  readonly #upstreams: Upstreams;
  readonly #answers: Answers;
  readonly #client: AgentClient;
  /** undefined: none was ever wanted. Most of thousands of machines have no viewers. */
  #topics: PushedTopics | undefined;
  #status: Status | undefined;
  /** Time, by the hub's clock, of the last message that was not a retained one. */
  #heardAtMs = Number.NEGATIVE_INFINITY;
  /** When it was asked for its clock, and the first time since it was heard. */
  #probedAtMs = Number.NEGATIVE_INFINITY;
  #silentSinceMs: number | undefined;
  #wasHeard = false;
  isClosed = false;
  /** Bytes of its name and labels in /api/hosts. */
  textBytes = 0;
  /** Its name and labels are left out, because those of all machines are too long. */
  isBrief = false;

  constructor(id: string, deps: RemoteHostDeps) {
    this.id = id;
    this.#deps = deps;
    const known = deps.hub.registry?.recall(id);
    this.#status = known && { ...known, isOnline: false, run: '', scopes: undefined };
    this.#reachability = new Reachability(id, deps.hub, known?.condition);
    this.#upstreams = new Upstreams(deps.hub, this);
    this.#client = new AgentClient(id, deps.calls, deps.hub);
    this.#answers = new Answers(deps.hub.clock);
  }

  /** Last status received. */
  get status(): Status | undefined {
    return this.#status;
  }

  get labels(): Readonly<Record<string, string>> {
    return this.#deps.entry?.().labels ?? (this.isBrief ? {} : (this.#status?.labels ?? {}));
  }

  /** That of the configuration, or its host name; the id until it was reached. */
  get name(): string {
    const reported = this.isBrief ? undefined : this.#status?.name;
    return this.#deps.entry?.().name ?? reported ?? this.id;
  }

  get condition(): Condition {
    return this.#reachability.condition;
  }

  /** Changes with the condition. */
  get version(): number {
    return this.#reachability.version;
  }

  get isUp(): boolean {
    return this.#reachability.isUp;
  }

  /** The machine's entry in /api/hosts. */
  get row(): HostRow {
    const { scopes } = this.#status ?? {};
    const row = this.#upstreams.row(this);
    return scopes === undefined ? row : { ...row, scopes };
  }

  get newest(): Noted['newest'] {
    const sample = this.#upstreams.newest;
    if (sample === undefined) return undefined;
    return { takenAtMs: sample.takenAtMs, payload: sample.payload(viewOf(sample.sections, false)) };
  }

  /** undefined: nothing. */
  get interest(): InterestMessage | undefined {
    const { interest } = this.#upstreams;
    return this.isUp && this.#topics !== undefined ? this.#topics.addTo(interest) : interest;
  }

  subscribe(view: View, sink?: MachineSink): MachineSubscription {
    return this.#upstreams.of(view).subscribe(view, sink);
  }

  /** As Machine.first. */
  async first<T>(view: View, begin: (sample: HostSample) => T): Promise<T> {
    return await this.#upstreams.of(view).first(view, begin);
  }

  /** Follows a topic that the machine sends on its own; returns a function that ends it, or undefined for another topic. */
  followTopic(name: string, sink: PushedSink): (() => void) | undefined {
    this.#topics ??= new PushedTopics(() => this.#deps.onInterest(this));
    return this.#topics.follow(name, sink);
  }

  /** The payload of one sample, at most a second old. Rejects with ServiceError. */
  async usage(view: View, who: Caller): Promise<Buffer> {
    return await this.#upstreams.usage(this, view, who);
  }

  /** At most 10 s old. Rejects with ServiceError. */
  async system(withDetail: boolean, who: Caller): Promise<Buffer> {
    return await this.#upstreams.request(this, 'system', { detail: withDetail }, who);
  }

  /** Clients' commands come through `CommandGateway`, which judges them. */
  async ask(ask: Ask): Promise<HostAnswer> {
    if (!this.isUp) throw this.refusal();
    return await this.#answers.ask(this.#client, ask);
  }

  /** The error for its clients while it is not up. */
  refusal(): ServiceError {
    this.#deps.onMissed?.();
    return this.#reachability.refusal();
  }

  /** Takes a status from the machine, or its last will. `isRetained`: retained by the broker, so it may be old. */
  say(status: Status, isRetained: boolean): void {
    if (this.isClosed) return;
    const isOtherRun = this.#status !== undefined && this.#status.run !== status.run;
    // The will of an earlier run, after the next one has begun.
    if (!status.isOnline && isOtherRun && this.#status?.isOnline === true && !isRetained) return;
    const { name = this.#status?.name } = status;
    const { labels = {} } = this.#status ?? {};
    this.#status = status.isOnline ? status : { ...status, name, labels };
    this.textBytes = Buffer.byteLength(JSON.stringify([this.#status.name, this.#status.labels]));
    if (!status.isOnline) {
      this.#client.end('its agent went offline');
      this.#failed({ isRefusal: false, reason: 'its agent is offline' });
      return;
    }
    if (isOtherRun) this.#client.end('its agent was restarted');
    if (isOtherRun) this.#topics?.lost();
    // The retained status may be out of date: the machine is asked.
    if (isRetained) this.#probe();
    else {
      this.#note();
      this.#heard();
      // It has lost its leases.
      if (this.interest !== undefined) this.#deps.onInterest(this);
      this.#deps.hub.registry?.note(this);
    }
  }

  /** Takes a message that the machine sends while it is wanted. */
  take(kind: Leased, payload: Buffer): void {
    if (kind !== 'sample' && this.isUp) this.#topics?.take(kind, payload);
    if (kind !== 'sample' || this.#upstreams.interest === undefined) return;
    const lines = SampleLines.read(payload);
    if (lines === undefined) {
      this.#fail('its samples are malformed');
      return;
    }
    const nowMs = this.#deps.hub.clock.now();
    // The sample is of a run that has ended, by its status.
    if (this.#status !== undefined && this.#status.run !== lines.head.run) return;
    this.#note();
    this.#client.note(lines.head);
    try {
      this.#upstreams.take(lines, nowMs);
    } catch (error) {
      if (!(error instanceof BadSample)) throw error;
      this.#fail(error.message);
    }
  }

  /** A message on the topic of answers to this hub. */
  answer(payload: Buffer): void {
    const reading = this.#deps.calls.take(this.id, payload);
    if (reading !== undefined) this.#heardClock(reading);
  }

  /** Nothing reaches it: the broker is away, or its own connection. `isRefusal`: it does not let this hub in. */
  lost(reason: string, isRefusal = false): void {
    this.#client.end(reason);
    this.#silentSinceMs = undefined;
    this.#probedAtMs = Number.NEGATIVE_INFINITY;
    this.#failed({ isRefusal, reason });
  }

  /** Drops what is known of the machine, because the next one may be another. */
  forget(): void {
    this.#status = undefined;
    this.#deps.hub.registry?.forget(this.id);
    this.textBytes = 0;
    this.#answers.clear();
  }

  /** Called every second: asks one that is silent whether it is there, and gives it up. */
  look(nowMs: number): void {
    const { silenceMs, presenceMs, headMs } = this.#deps.hub.times;
    if (this.#status?.isOnline !== true) return;
    if (this.#silentSinceMs !== undefined && nowMs - this.#silentSinceMs > headMs && this.isUp)
      this.#failed({ isRefusal: false, reason: 'no message within the timeout' });
    const isWatched = this.#upstreams.all.length > 0 || this.#topics?.isWanted === true;
    if (this.isUp && nowMs - this.#heardAtMs < (isWatched ? silenceMs / 4 : UNWATCHED_MS)) return;
    if (nowMs - this.#probedAtMs >= (isWatched ? presenceMs / 5 : presenceMs)) this.#probe();
  }

  /** Ends all streams. */
  close(): void {
    this.isClosed = true;
    this.#answers.clear();
    this.#upstreams.close();
  }

  changed(): void {
    if (this.isClosed) return;
    // Before its newest sample is dropped.
    this.#deps.hub.registry?.note(this);
    this.#upstreams.dropUnwanted();
    if (this.isUp) this.#upstreams.ask();
    else this.#deps.onMissed?.();
  }

  onInterest(): void {
    this.#deps.onInterest(this);
  }

  #heard(): void {
    if (this.isUp || this.isClosed) return;
    this.#wasHeard = true;
    this.#reachability.set({ state: 'up' });
    this.#deps.hub.registry?.note(this);
    this.#deps.onHeard?.(this);
    this.#upstreams.ask();
    this.#topics?.renew();
  }

  #failed({ isRefusal, reason }: Failure): void {
    if (this.isClosed) return;
    // First: an upstream asks for samples while it is up.
    // A broker may keep any number of statuses of machines that were never heard: these get no line each.
    const state = isRefusal ? 'refused' : 'down';
    this.#reachability.set({ state, reason }, !this.#wasHeard && this.#deps.mayProbe !== undefined);
    this.#deps.hub.registry?.note(this);
    this.#upstreams.lost();
    this.#topics?.lost();
  }

  #probe(): void {
    if (this.#deps.mayProbe?.(this) === false) return;
    const nowMs = this.#deps.hub.clock.now();
    this.#probedAtMs = nowMs;
    // `answer` receives the reply; `look` notices its absence.
    this.#silentSinceMs ??= nowMs;
    this.#client.probe();
  }

  #heardClock(reading: ClockReading): void {
    this.#client.note(reading);
    this.#note();
    const status = this.#status;
    // An answer that was under way when it went away; and one whose next state was lost on its way here.
    if (status?.isOnline !== true) return;
    if (status.run !== reading.run) this.#status = { ...status, run: reading.run };
    // A stream that was refused is not requested again immediately.
    if (this.#heardAtMs >= this.#probedAtMs) this.#heard();
  }

  #note(): void {
    this.#heardAtMs = this.#deps.hub.clock.now();
    this.#silentSinceMs = undefined;
  }

  /** It is there, and sends what is not understood: it is asked again after a while. */
  #fail(reason: string): void {
    const { clock, times } = this.#deps.hub;
    this.#probedAtMs = clock.now() + times.maxDelayMs;
    this.#failed({ isRefusal: false, reason });
  }
}
