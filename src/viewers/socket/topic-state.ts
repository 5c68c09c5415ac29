/**
 * A topic of one machine that has a state: media, processes, power. Sent when it differs from the one before. It is read when
 * the machine reports a change; a topic that is not reported, or may be lost on its way, is read once per interval for all.
 */
import { OWN_ACCOUNT } from '../../access/caller.ts';
import type { Clock, Defer } from '../../clock.ts';
import { type ErrorCode, ServiceError } from '../../errors.ts';
import { QUOTAS } from '../../fairness/limits.ts';
import { type Machine, textOf } from '../../machine/machine.ts';
import { inSlices } from '../../streams/slices.ts';
import type { TopicName } from '../../wire/topics.ts';
import { TOPIC_ROWS } from './topics.ts';

/** The process list that is pushed. */
const PUSHED_ROWS = 200;

/** The payload of a topic as JSON. Rejects with ServiceError. */
export async function readTopic(
  machine: Pick<Machine, 'ask'>,
  name: TopicName,
  withDetail: boolean,
): Promise<string> {
  const { what, params } = TOPIC_ROWS[name];
  for (let limit = PUSHED_ROWS; ; limit = Math.floor(limit / 2)) {
    const asked = { what, params: params(withDetail, Math.max(1, limit)), client: OWN_ACCOUNT };
    const json = textOf(await machine.ask(asked));
    if (limit <= 1 || name !== 'processes' || Buffer.byteLength(json) <= QUOTAS.pushedList.maxBytes)
      return json;
  }
}

export interface TopicMember {
  readonly withDetail: boolean;
  /** Sends the newest payload if there is room; otherwise when there is. */
  sendState(state: TopicState): void;
}

export interface TopicStateDeps {
  readonly clock: Pick<Clock, 'now' | 'setTimer' | 'clearTimer'>;
  readonly intervalMs: () => number;
  readonly defer: Defer;
  /** Called once per failure, until the topic can be read again. */
  readonly onError: (error: unknown) => void;
}

/** A payload that a machine sends may be lost on its way: the topic is read after this time without one. */
const TRUSTED_MS = 60_000;

/** Media have a payload with detail, whose first keys are the one without it; other topics have one payload. */
function plainOf(name: TopicName, json: string): string {
  if (name !== 'media') return json;
  const { status, title, artist } = JSON.parse(json); // It is an object.
  return JSON.stringify({ status, title, artist });
}

/** The plain payload does not distinguish paused from playing. */
const playbackIn = (name: TopicName, json: string): unknown =>
  name === 'media' ? JSON.parse(json).playback : undefined; // It is an object.

/** The machine does not show the topic: its flag is off, or its key for the hub does not allow it. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set(['feature_disabled', 'scope_required']);

export class TopicState {
  readonly name: TopicName;
  readonly #machine: Pick<Machine, 'ask' | 'followTopic'>;
  readonly #deps: TopicStateDeps;
  readonly #members = new Set<TopicMember>();
  /** The newest payload as JSON, without and with detail. */
  #plain: string | undefined;
  #detailed: string | undefined;
  #timer: unknown;
  /** Ends the reports of the machine. */
  #unfollow: (() => void) | undefined;
  /** Changes are never lost. */
  #isReliable = false;
  /** Payloads that the machine has sent since it is there. */
  #pushes = 0;
  /** Until then they are trusted, and nothing is read. */
  #trustedUntilMs = Number.NEGATIVE_INFINITY;
  #isReading = false;
  #readsAgain = false;
  #hasFailed = false;

  constructor(machine: Pick<Machine, 'ask' | 'followTopic'>, name: TopicName, deps: TopicStateDeps) {
    this.name = name;
    this.#machine = machine;
    this.#deps = deps;
  }

  get size(): number {
    return this.#members.size;
  }

  add(member: TopicMember): void {
    this.#members.add(member);
    if (this.#members.size > 1) return;
    const followed = this.#machine.followTopic(this.name, {
      onPayload: (json) => this.#takePushed(json),
      onChange: () => this.refresh(),
      onLost: () => this.#distrust(),
    });
    this.#unfollow = followed?.end;
    this.#isReliable = followed?.isReliable ?? false;
    this.#startTimer();
  }

  remove(member: TopicMember): void {
    this.#members.delete(member);
    if (this.#members.size > 0) return;
    this.#stopTimer();
    this.#unfollow?.();
    this.#unfollow = undefined;
    this.#distrust();
    // It is not read without members.
    this.#plain = undefined;
    this.#detailed = undefined;
  }

  /** The present payload, for a new member; that of the first one is what later ones are compared with. Rejects. */
  async begin(member: TopicMember): Promise<string> {
    const known = this.#isTrusted ? this.newestFor(member) : undefined;
    if (known !== undefined) return known;
    const json = await readTopic(this.#machine, this.name, true);
    const plain = plainOf(this.name, json);
    this.#detailed ??= json;
    this.#plain ??= plain;
    return member.withDetail ? json : plain;
  }

  newestFor({ withDetail }: Pick<TopicMember, 'withDetail'>): string | undefined {
    return withDetail ? this.#detailed : this.#plain;
  }

  /** Reads the topic, and sends it to its members if it has changed. */
  refresh(): void {
    if (this.#members.size === 0 || this.#isTrusted) return;
    this.#readsAgain = this.#isReading;
    if (this.#isReading) return;
    this.#isReading = true;
    void this.#read().finally(() => {
      this.#isReading = false;
      if (this.#readsAgain) this.refresh();
    });
  }

  /** The interval may be another one, and a flag too. */
  reconfigure(): void {
    this.refresh();
    if (this.#timer === undefined) return;
    this.#stopTimer();
    this.#startTimer();
  }

  get #isTrusted(): boolean {
    return this.#deps.clock.now() < this.#trustedUntilMs;
  }

  #trust(): void {
    this.#trustedUntilMs = this.#deps.clock.now() + TRUSTED_MS;
  }

  #distrust(): void {
    this.#pushes = 0;
    this.#trustedUntilMs = Number.NEGATIVE_INFINITY;
  }

  #startTimer(): void {
    if (this.#isReliable) return;
    const { clock, intervalMs } = this.#deps;
    this.#timer = clock.setTimer(() => {
      this.#startTimer();
      this.refresh();
    }, intervalMs());
  }

  #stopTimer(): void {
    this.#deps.clock.clearTimer(this.#timer);
    this.#timer = undefined;
  }

  #takePushed(json: string): void {
    this.#pushes++;
    this.#trust();
    this.#put(json);
  }

  #put(json: string): void {
    const { name } = this;
    const before = this.#detailed;
    const plain = plainOf(name, json);
    const isMarked = before !== undefined && playbackIn(name, before) !== playbackIn(name, json);
    const isPlainChanged = plain !== this.#plain || isMarked;
    this.#detailed = json;
    this.#plain = plain;
    const outdated = [...this.#members].filter(({ withDetail }) =>
      withDetail && name === 'media' ? json !== before : isPlainChanged,
    );
    inSlices(outdated, this.#deps.defer, (member) => {
      if (this.#members.has(member)) member.sendState(this);
    });
  }

  /** Never rejects. */
  async #read(): Promise<void> {
    const before = this.#pushes;
    try {
      const json = await readTopic(this.#machine, this.name, true);
      this.#hasFailed = false;
      // A payload that has arrived since is newer.
      if (before === this.#pushes && this.#members.size > 0) this.#put(json);
      if (this.#pushes > 0) this.#trust();
    } catch (error) {
      // The next interval or change reads it again.
      if (error instanceof ServiceError && REFUSALS.has(error.code)) return;
      if (!this.#hasFailed) this.#deps.onError(error);
      this.#hasFailed = true;
    }
  }
}
