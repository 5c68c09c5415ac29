/** Reports a simulated agent to hubs by docs/hub-protocol.md, however it reaches them: behind a broker, or dialled in. */
import { Machine, now, type Sample, SECTIONS, type Section } from './machine.ts';

const LEASE_MS = 10_000;

interface Lease {
  readonly plain: readonly Section[];
  /** undefined: nothing with detail. */
  readonly detail: readonly Section[] | undefined;
  readonly endsAtMs: number;
}

const known = (names: unknown): readonly Section[] =>
  Array.isArray(names) ? SECTIONS.filter((name) => names.includes(name)) : [];

const isWithin = (wanted: readonly Section[], had: readonly Section[]) =>
  wanted.every((name) => had.includes(name));

/** `topic`: its end, behind `<mqtt.topic>/<id>/hub/`. */
export type Report = (topic: string, payload: string) => void;

/** Reports samples, and answers only the question for its clock; it has no commands. */
export class Reporter {
  readonly run = Math.random().toString(16).slice(2);
  readonly #report: Report;
  readonly #machine = new Machine();
  readonly #leases = new Map<string, Lease>();
  #detach: (() => void) | undefined;
  #count = 0;

  constructor(report: Report) {
    this.#report = report;
  }

  /** The payload of its topic `status`. */
  status(state: string, said: object): string {
    return JSON.stringify({ state, run: this.run, ...said });
  }

  /** `topic`: `want`, or that of a command or question; `payload`: as a hub sends it. */
  take(topic: string, payload: string): void {
    const message: Readonly<Record<string, unknown>> = JSON.parse(payload);
    const hub = String(message['hub']);
    if (topic === 'want') this.#want(hub, message);
    else this.#answer(hub, topic, message);
  }

  /** Call it every second. */
  expire(): void {
    for (const [hub, { endsAtMs }] of this.#leases) if (endsAtMs <= now()) this.#leases.delete(hub);
    this.#settle();
  }

  /** The connection has ended, and with it all leases. */
  rest(): void {
    this.#leases.clear();
    this.#settle();
  }

  #want(hub: string, { sections, detail }: Readonly<Record<string, unknown>>): void {
    this.expire();
    const lease = {
      plain: known(sections),
      detail: detail === undefined ? undefined : known(detail),
      endsAtMs: now() + LEASE_MS,
    };
    const before = this.#leases.get(hub);
    if (lease.plain.length === 0 && lease.detail === undefined) this.#leases.delete(hub);
    else this.#leases.set(hub, lease);
    this.#settle();
    if (!this.#leases.has(hub)) return;
    const isNarrow =
      before !== undefined &&
      isWithin(lease.plain, before.plain) &&
      (lease.detail === undefined || (before.detail !== undefined && isWithin(lease.detail, before.detail)));
    if (!isNarrow) this.#machine.sample();
  }

  /** It samples while there is a lease. */
  #settle(): void {
    if (this.#leases.size === 0) {
      this.#detach?.();
      this.#detach = undefined;
    } else this.#detach ??= this.#machine.attach((sample) => this.#publish(sample));
  }

  #publish({ begin, sections }: Sample): void {
    const leases = [...this.#leases.values()];
    const plain = SECTIONS.filter((name) => leases.some((lease) => lease.plain.includes(name)));
    const isDetailed = leases.some(({ detail }) => detail !== undefined);
    const detail = SECTIONS.filter((name) => leases.some((lease) => lease.detail?.includes(name)));
    const clock = Math.floor(now());
    const head = { v: 1, run: this.run, clock, n: this.#count++, plain, ...(isDetailed && { detail }) };
    // It has no details beside the sections, and detail adds nothing to its sections.
    const lines = [...plain.map((name) => sections[name]), ...(isDetailed ? [''] : [])];
    if (isDetailed) lines.push(...detail.map((name) => sections[name]));
    this.#report('sample', [JSON.stringify(head), begin, ...lines].join('\n'));
  }

  #answer(hub: string, topic: string, { id, what }: Readonly<Record<string, unknown>>): void {
    const isClock = topic === 'cmd/get' && what === 'clock';
    const found = isClock
      ? { command: 'get', stage: 'done', success: true, message: 'Done', result: {} }
      : { stage: 'refused', success: false, message: 'It is simulated.', code: 'not_supported' };
    const feedback = { ...found, id, run: this.run, clock: Math.floor(now()) };
    this.#report(`feedback/${hub}`, JSON.stringify(feedback));
  }
}
