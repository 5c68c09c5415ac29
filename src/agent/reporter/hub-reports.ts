/** Reports to hubs while they want it: samples, media and power when they change, and events of watch rules. */
import type { Clock } from '../../clock.ts';
import type { Media } from '../../commands/media.ts';
import type { Power } from '../../commands/power.ts';
import type { CurrentConfig } from '../../config/current.ts';
import { SECTION_BITS } from '../../host/host.ts';
import type { Log } from '../../log/log.ts';
import { Coalescer } from '../../mqtt/coalescer.ts';
import { Failures } from '../../mqtt/failures.ts';
import type { Line } from '../../mqtt/line.ts';
import type { Sample } from '../../stats/sample.ts';
import type { Sampler } from '../../stats/sampler.ts';
import { type View, viewOf } from '../../stats/view.ts';
import type { HistoryEvent } from '../../wire/history.ts';
import type { HubTopics } from '../protocol/hub-topics.ts';
import type { Present } from './hub-request.ts';
import { type Interest, isNothing, readInterest, unite } from './interest.ts';
import { Leases, MAX_LEASES } from './leases.ts';
import { sampleMessage } from './sample-message.ts';

export interface HubReportOptions {
  readonly config: CurrentConfig;
  readonly sampler: Pick<Sampler, 'attach' | 'latest' | 'intervalMs'>;
  readonly media: Pick<Media, 'status'>;
  readonly power: Pick<Power, 'status'>;
  readonly clock: Clock;
  readonly log: Log;
  /** The beginning of its lines in the log. */
  readonly subject: string;
  readonly topics: HubTopics;
  readonly present: () => Present;
  /** Publishes with QoS 1 and logs a refusal once. Never rejects. */
  readonly deliver: (topic: string, payload: string) => Promise<boolean>;
  /** A hub has not renewed its lease: it may be gone, or the way to the broker is. */
  readonly onSilence: () => void;
}

/** Least time between two messages on one topic that are not those of ticks. */
const PACE_MS = 200;
const COMPLAINT_MS = 60_000;

export class HubReports {
  readonly #options: HubReportOptions;
  readonly #leases: Leases;
  readonly #first: Coalescer;
  readonly #media: Coalescer;
  readonly #power: Coalescer;
  #connection: Pick<Line, 'send'> | undefined;
  /** The view that the sink demands. */
  #view: View | undefined;
  #detach: () => void = () => undefined;
  #timer: unknown;
  /** Set while a sample is being written: the newest one since, with its due sections. */
  #isWriting = false;
  #held: { readonly sample: Sample; readonly interest: Interest } | undefined;
  #count = 0;
  /** The last payload on each topic; a hub that is new has none. */
  readonly #sent = new Map<string, string>();
  #complainedAtMs = Number.NEGATIVE_INFINITY;
  /** Those to send a sample. */
  readonly #failures: Failures;

  constructor(options: HubReportOptions) {
    this.#options = options;
    const { clock, log, subject } = options;
    this.#leases = new Leases(clock.now);
    const failures = {
      isActive: () => this.#connection !== undefined,
      onFailure: (reason: string) => log.error(`${subject}: cannot report to hubs: ${reason}`),
    };
    this.#failures = new Failures(failures);
    const paced = (run: () => Promise<void>) => new Coalescer({ run, clock, paceMs: PACE_MS, ...failures });
    this.#first = paced(() => this.#sendFirst());
    this.#media = paced(() => this.#sendMedia());
    this.#power = paced(() => this.#sendPower());
  }

  begin(connection: Pick<Line, 'send'>): void {
    this.#connection = connection;
  }

  /** Nothing is read any more. Hubs renew their leases when they see the agent again. */
  end(): void {
    this.#connection = undefined;
    this.#held = undefined;
    this.#leases.clear();
    this.#settle();
  }

  /** Takes a message `want`; never throws. */
  takeInterest(payload: Buffer): void {
    if (this.#connection === undefined) return;
    const interest = readInterest(payload, SECTION_BITS);
    if (typeof interest === 'string') {
      this.#complain(interest);
      return;
    }
    const taken = this.#leases.take(interest);
    if (taken === 'full') this.#complain(`${MAX_LEASES} hubs are served already`);
    this.#settle();
    if (taken !== 'wider') return;
    const { topics } = this.#options;
    // This hub has not received earlier messages.
    if (interest.media) this.#sent.delete(topics.media);
    if (interest.power) this.#sent.delete(topics.power);
    this.mediaChanged();
    this.powerChanged();
    if (!isNothing(interest)) this.#first.request();
  }

  mediaChanged(): void {
    if (this.#leases.wants('media')) this.#media.request();
  }

  powerChanged(): void {
    if (this.#leases.wants('power')) this.#power.request();
  }

  /** Lost while no hub wants it: the history has it. */
  sendEvent(event: HistoryEvent): void {
    const { topics, deliver } = this.#options;
    this.#leases.expire();
    if (this.#connection !== undefined && this.#leases.wants('events'))
      void deliver(topics.event, JSON.stringify(event));
  }

  /** Demands what the living leases want, and comes back when the next of them ends. */
  #settle(): void {
    const { sampler, clock } = this.#options;
    if (this.#leases.expire()) this.#options.onSilence();
    const interest = this.#leases.interest;
    const { plain, detailed } = interest;
    const view = isNothing(interest) ? undefined : viewOf(plain | (detailed ?? 0), detailed !== undefined);
    if (view !== this.#view) {
      const detach = this.#detach;
      // The new one first: a sampler without demand stops its clock.
      this.#detach =
        view === undefined
          ? () => undefined
          : sampler.attach({ view, publish: ({ sample }) => this.#publish(sample) });
      detach();
      this.#view = view;
    }
    clock.clearTimer(this.#timer);
    const endsInMs = this.#leases.endsInMs;
    this.#timer = endsInMs === undefined ? undefined : clock.setTimer(() => this.#settle(), endsInMs);
  }

  #publish(sample: Sample, slackMs = this.#options.sampler.intervalMs / 2): void {
    const due = this.#leases.due(slackMs);
    if (due !== undefined) this.#write(sample, due);
  }

  /** One at a time: a broker that takes nothing gets the newest when it does. */
  #write(sample: Sample, interest: Interest): void {
    const { topics, present } = this.#options;
    const connection = this.#connection;
    if (connection === undefined) return;
    if (this.#isWriting) {
      this.#held = {
        sample,
        interest: this.#held === undefined ? interest : unite(this.#held.interest, interest),
      };
      return;
    }
    this.#isWriting = true;
    const text = sampleMessage(sample, interest, SECTION_BITS, { ...present(), n: this.#count++ });
    void connection
      .send(topics.sample, text)
      .then(
        () => this.#failures.succeeded(),
        (error: unknown) => this.#failures.failed(error),
      )
      .finally(() => {
        this.#isWriting = false;
        const held = this.#held;
        this.#held = undefined;
        if (held !== undefined) this.#write(held.sample, held.interest);
      });
  }

  /** A viewer that has just come does not wait for the next tick. */
  async #sendFirst(): Promise<void> {
    const view = this.#view;
    if (view === undefined) return;
    const { sample } = await this.#options.sampler.latest(view);
    this.#publish(sample, 0);
  }

  async #sendMedia(): Promise<void> {
    const { config, media, topics } = this.#options;
    if (!config.current.features.enable_media || !this.#leases.wants('media')) return;
    await this.#sendChanged(topics.media, await media.status(undefined, true));
  }

  async #sendPower(): Promise<void> {
    const { power, topics } = this.#options;
    if (this.#leases.wants('power')) await this.#sendChanged(topics.power, await power.status());
  }

  async #sendChanged(topic: string, value: object): Promise<void> {
    const payload = JSON.stringify(value);
    if (this.#connection === undefined || this.#sent.get(topic) === payload) return;
    this.#sent.set(topic, payload);
    await this.#options.deliver(topic, payload);
  }

  #complain(why: string): void {
    const now = this.#options.clock.now();
    if (now - this.#complainedAtMs < COMPLAINT_MS) return;
    this.#complainedAtMs = now;
    const { log, subject } = this.#options;
    log.warn(`${subject}: ignored a request for samples: ${why}`);
  }
}
