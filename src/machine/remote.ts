/**
 * A machine elsewhere, whatever carries its session: what it says of itself, what its viewers want of it, and what it is
 * asked. One session for all viewers.
 */
import { isDeepStrictEqual } from 'node:util';
import { type Caller, OWN_ACCOUNT } from '../access/caller.ts';
import { ServiceError } from '../errors.ts';
import { ALL_SECTIONS, SECTION_BITS, SECTIONS } from '../host/host.ts';
import { type JsonObject, parseObject } from '../json.ts';
import type { Params } from '../params.ts';
import { ALL_SCOPES, type Scope, type Scopes, scopesOf } from '../scopes.ts';
import { down, type Failure } from '../socket/carrier.ts';
import type { Greeting } from '../socket/greeting.ts';
import { newPace, Peer, type PeerOwner } from '../socket/peer.ts';
import type { RemoteAnswer, RemoteRequest } from '../socket/requests.ts';
import { FRESH_MS } from '../stats/freshness.ts';
import { type View, viewOf } from '../stats/view.ts';
import type { MachineSink, MachineSubscription } from '../streams/sample.ts';
import type { ClosingReason } from '../wire/closing-reasons.ts';
import type { HostRow } from '../wire/hub.ts';
import type { FollowedTopic, Machine, MachineAnswer, MachineRequest, TopicSink } from './machine.ts';
import { PushedTopics } from './pushed-topics.ts';
import { PLANNED, RESTART_SECONDS, RESTARTS, Reachability } from './reachability.ts';
import type { Condition, Noted } from './registry.ts';
import type { RemoteOptions } from './remote-deps.ts';
import type { RemoteSample } from './remote-sample.ts';
import { RemoteSamples } from './remote-samples.ts';
import { isQuestion } from './requests.ts';
import { findMalformed } from './sample-shape.ts';
import { SharedAnswers } from './shared-answers.ts';

/** The last that a machine has said of itself. */
interface Status {
  readonly run: string;
  readonly name: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly scopes: readonly Scope[] | undefined;
}

/** The question about the history with the shortest answer. */
const LEAST_HISTORY = { what: 'history', params: { series: ['none'], since: -1 }, client: OWN_ACCOUNT };
const EVERYTHING = viewOf(ALL_SECTIONS, true);

/** A machine that still sends after this long has not gone. */
const GOING_MS = 3000;

export class RemoteMachine implements Machine, PeerOwner, Noted {
  readonly id: string;
  readonly #options: RemoteOptions;
  readonly #reachability: Reachability;
  /** undefined, as below: none was ever wanted. Most of thousands of machines have no viewers. */
  #samples: RemoteSamples | undefined;
  readonly #answers: SharedAnswers;
  #topics: PushedTopics | undefined;
  readonly #pace;
  #peer: Peer | undefined;
  #status: Status | undefined;
  /** The machine has greeted in this session. */
  #hasBegun = false;
  #heardAtMs = 0;
  /** When it was pinged and has not answered yet. */
  #pingedAtMs: number | undefined;
  /** When it said that it goes. */
  #leftAtMs: number | undefined;
  isClosed = false;

  constructor(id: string, options: RemoteOptions) {
    const { hub } = options;
    this.id = id;
    this.#options = options;
    const known = hub.registry?.recall(id);
    this.#status = known && { name: known.name, labels: known.labels, run: '', scopes: undefined };
    this.#reachability = new Reachability(id, hub, known?.condition);
    this.#answers = new SharedAnswers(hub.clock);
    this.#pace = newPace(hub.clock.now());
  }

  get status(): Status | undefined {
    return this.#status;
  }

  get labels(): Readonly<Record<string, string>> {
    return this.#options.entry?.().labels ?? this.#status?.labels ?? {};
  }

  /** That of the configuration, or its host name; the id until it was reached. */
  get name(): string {
    return this.#options.entry?.().name ?? this.#status?.name ?? this.id;
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
    const { id, name, labels, condition } = this;
    const { scopes } = this.#status ?? {};
    const takenAtMs = this.#samples?.takenAtMs;
    const age = takenAtMs === undefined ? null : Math.round(this.#options.hub.clock.now() - takenAtMs) / 1000;
    return { id, name, labels, ...condition, sample_age: age, ...(scopes && { scopes }) };
  }

  get newest(): Noted['newest'] {
    const sample = this.#samples?.newest;
    if (sample === undefined) return undefined;
    return { takenAtMs: sample.takenAtMs, payload: sample.payload(viewOf(sample.sections, false)) };
  }

  /** Since its last message. */
  get silentMs(): number {
    return this.#options.hub.clock.now() - this.#heardAtMs;
  }

  subscribe(view: View, sink?: MachineSink): MachineSubscription {
    if (!this.isUp) this.#options.onMissed?.();
    return this.#openSamples().subscribe(view, sink);
  }

  #openSamples(): RemoteSamples {
    this.#samples ??= new RemoteSamples(this.#options.hub, this);
    return this.#samples;
  }

  /** No next one is near: machines send samples when they like. */
  async first<T>(view: View, begin: (sample: RemoteSample, isNextNear: boolean) => T): Promise<T> {
    return await this.#openSamples().first(view, (sample) => begin(sample, false));
  }

  followTopic(name: string, sink: TopicSink): FollowedTopic | undefined {
    this.#topics ??= new PushedTopics(this);
    const end = this.#topics.follow(name, sink);
    return end && { end, isReliable: false };
  }

  async usage(view: View, client: Caller): Promise<Buffer> {
    const { registry } = this.#options.hub;
    const bytes = await this.#orLast(this.#usageNow(view, client), () =>
      registry?.usage(this.id, view.sections),
    );
    if (view.sections === ALL_SECTIONS && this.isUp) registry?.takeUsage(this.id, () => parseObject(bytes));
    return bytes;
  }

  /** The payload of a sample with detail, at most a second old. Rejects with ServiceError, also if it is not there. */
  async detailed(client: Caller): Promise<Buffer> {
    return await this.#usageNow(EVERYTHING, client);
  }

  async #usageNow(view: View, client: Caller): Promise<Buffer> {
    const { clock } = this.#options.hub;
    const current = this.#samples?.newestWith(view);
    if (current !== undefined && clock.now() - current.takenAtMs < FRESH_MS) return current.payload(view);
    const { sections, withDetail } = view;
    const names = SECTIONS.filter((name) => (sections & SECTION_BITS[name]) !== 0);
    const params = { sections: names, detail: withDetail };
    const { bytes } = await this.#question('usage', params, client, this.#options.hub.times.headMs);
    const malformed = findMalformed(parseObject(bytes) ?? {});
    if (malformed === undefined) return bytes;
    const reason = `its samples are malformed: ${malformed}`;
    throw new ServiceError('host_unreachable', 'The machine sent no valid sample.', { reason });
  }

  async ask(request: MachineRequest): Promise<MachineAnswer> {
    const { commander, times, registry } = this.#options.hub;
    const { what, params, client } = request;
    if (!isQuestion(what)) return await commander.command(this, request);
    const answer = this.#question(what, params, client, times.questionMs);
    if (what !== 'system') return await answer;
    const bytes = answer.then((each) => each.bytes);
    return { bytes: await this.#orLast(bytes, () => registry?.system(this.id)) };
  }

  /** The answer of the machine; if it is not there the last one that is known, with its time. */
  async #orLast(answer: Promise<Buffer>, last: () => string | undefined): Promise<Buffer> {
    try {
      return await answer;
    } catch (error) {
      const known = this.isUp ? undefined : last();
      if (known === undefined || !(error instanceof ServiceError) || error.code !== 'host_unreachable')
        throw error;
      return Buffer.from(known);
    }
  }

  async #question(what: string, params: Params, client: Caller, limitMs: number): Promise<RemoteAnswer> {
    const deadlineMs = this.#options.hub.clock.now() + limitMs;
    return await this.send({ what, params, client, deadlineMs });
  }

  /** Asks once, as Requests.ask; questions may be shared. */
  async send(request: RemoteRequest): Promise<RemoteAnswer> {
    const peer = this.#peer;
    if (!this.isUp || peer === undefined) throw this.refusal();
    return await this.#answers.ask(request, async (asked) => await peer.ask(asked, !isQuestion(asked.what)));
  }

  check(name: string, client: Caller): void {
    // `media.`: any command of the group.
    this.#options.hub.commander.check(this, name.endsWith('.') ? `${name}*` : name, client);
  }

  /** Returns the scopes that `client` can use on this machine. */
  usableScopes(client: Caller): Scopes {
    const { scopes } = this.#status ?? {};
    const ofHub = scopes === undefined ? ALL_SCOPES : scopesOf(scopes);
    return this.#options.hub.commander.scopesAt(this, client) & ofHub;
  }

  /** A machine that is not there may have a history. */
  async hasEvents(): Promise<boolean> {
    try {
      await this.ask(LEAST_HISTORY);
      return true;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return error.code !== 'feature_disabled';
    }
  }

  /** The error for its clients while it is not up. */
  refusal(): ServiceError {
    this.#options.onMissed?.();
    return this.#reachability.refusal();
  }

  /** Begins a session in place of the one before it; the caller starts it with a carrier. */
  connect(): Peer {
    const { hub } = this.#options;
    this.#peer?.end('a newer connection of this machine has taken its place');
    hub.counters.connections++;
    this.#peer = new Peer(hub, this.#pace, this);
    return this.#peer;
  }

  /** Ends its session, or says why there is none. `isRefusal`: it does not let this hub in. */
  lost(reason: string, isRefusal = false): void {
    this.#peer?.end(reason);
    this.#peer = undefined;
    this.#gone({ reason, isRefusal });
  }

  /** Drops what is known of the machine, because the next one may be another. */
  forget(): void {
    this.#status = undefined;
    this.#options.hub.registry?.forget(this.id);
    this.#answers.clear();
  }

  /** Called every second: pings one that is silent, and gives it up. */
  look(nowMs: number): void {
    this.#lookForRestart();
    this.#answers.rest(nowMs);
    const peer = this.#peer;
    if (peer?.isReady !== true) return;
    peer.rest();
    const { times } = this.#options.hub;
    if (this.#pingedAtMs !== undefined) {
      if (nowMs - this.#pingedAtMs < times.headMs) return;
      peer.onEnd(down('no message within the timeout'));
      return;
    }
    const isWatched = this.#samples?.isWanted === true || this.#topics?.isWatched === true;
    const quietMs = isWatched ? times.quietMs : (this.#options.unwatchedMs ?? times.quietMs);
    if (nowMs - this.#heardAtMs < quietMs) return;
    this.#pingedAtMs = nowMs;
    peer.ping();
  }

  /** Ends all streams. */
  close(reason = 'the hub no longer has this machine'): void {
    this.isClosed = true;
    this.#peer?.end(reason);
    this.#answers.clear();
    this.#samples?.close();
  }

  onGreeting(greeting: Greeting): void {
    const { registry } = this.#options.hub;
    const { run, name, labels, scopes } = greeting;
    const isOld = this.isUp || (this.#status !== undefined && this.#status.run !== run);
    if (greeting.isKeyed && !greeting.mayNameClients && run !== this.#status?.run) this.#reportScope();
    const before = this.labels;
    this.#status = { run, name, labels, scopes };
    if (!isDeepStrictEqual(before, this.labels)) this.#options.onLabels?.();
    this.#leftAtMs = undefined;
    this.#hasBegun = true;
    this.onHeard();
    this.#reachability.set({ state: 'up' });
    registry?.note(this, greeting);
    this.want();
    // Something may have been missed between two connections, too.
    if (isOld) this.#topics?.lost();
  }

  #reportScope(): void {
    const effect = 'it does not know for whom this hub asks, and does not delay its sleep for it';
    this.#options.hub.log.warn(`host ${this.id}: the key of this hub lacks the scope hub there: ${effect}`);
  }

  onHeard(): void {
    const nowMs = this.#options.hub.clock.now();
    this.#heardAtMs = nowMs;
    this.#pingedAtMs = undefined;
    // Its plan was not carried out, or it is back.
    if (this.#leftAtMs === undefined || nowMs - this.#leftAtMs < GOING_MS) return;
    this.#leftAtMs = undefined;
    this.#reachability.set({ state: 'up' });
    this.#options.hub.registry?.note(this);
    this.want();
  }

  onData(type: string, data: JsonObject, bytes: number): void {
    if (type !== 'system_stats') {
      if (this.isUp) this.#topics?.take(type, data, bytes);
      return;
    }
    const { counters } = this.#options.hub;
    const flaw = this.#samples?.take(data);
    if (flaw !== undefined) {
      this.#peer?.onEnd({ ...down(flaw), isFlood: true });
      return;
    }
    counters.samples++;
    counters.sampleBytes += bytes;
  }

  onClosing(reason: ClosingReason): void {
    this.#leftAtMs = this.#options.hub.clock.now();
    this.#set(PLANNED[reason]);
  }

  onEnd(failure: Failure): void {
    const hadBegun = this.#hasBegun;
    this.#hasBegun = false;
    this.#peer = undefined;
    this.#pingedAtMs = undefined;
    this.#options.hub.counters.failures++;
    this.#gone(failure);
    this.#options.onEnd?.(failure, hadBegun);
  }

  /** Of one that has said how it goes, also to the hub's last run, the connection's end is the end that it planned. */
  #gone({ isRefusal, reason }: Failure): void {
    if (this.isClosed) return;
    const { state } = this.condition;
    const isPlanned = this.#leftAtMs !== undefined || state === 'asleep' || state === 'off';
    if (isPlanned && !isRefusal) this.#set(this.condition);
    else this.#set({ state: isRefusal ? 'refused' : 'down', reason });
  }

  /** One that restarts is soon back. */
  #lookForRestart(): void {
    const { since, reason } = this.condition;
    if (reason !== RESTARTS || Date.now() / 1000 - since < RESTART_SECONDS) return;
    this.#leftAtMs = undefined;
    this.#set({ state: 'down', reason: 'it has not come back from its restart' });
  }

  /** It is not there. */
  #set(condition: Omit<Condition, 'since'>): void {
    this.#reachability.set(condition);
    // Before its newest sample is dropped.
    this.#options.hub.registry?.note(this);
    this.#samples?.lost(this.#reachability.refusal());
    this.#topics?.lost();
  }

  /** Asks for what is wanted now. */
  want(): void {
    const topics = [...(this.#samples?.topics ?? []), ...(this.#topics?.names ?? [])];
    const detail = this.#samples?.withDetail === true || (topics.includes('media') && 'media');
    if (this.isClosed) return;
    if (this.isUp) this.#peer?.subscribe(topics, detail);
    else if (topics.length > 0) this.#options.onMissed?.();
  }
}
