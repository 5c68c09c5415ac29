/** A history whose answers are computed from their requests, which it lists. */
import type { History, HistoryRequest } from '#src/history/history.js';
import { Listeners } from '#src/listeners.js';
import type { HistoryEvent, HistoryPayload, ProcessHistoryPayload } from '#src/wire/history.js';

/** Unix seconds at which the history ends. */
export const FAKE_NOW = 1_795_249_000;

export const FAKE_EVENT: HistoryEvent = {
  at: FAKE_NOW - 20,
  rule: 'busy',
  state: 'begin',
  series: 'cpu.load',
  value: 97.5,
  text: 'CPU load has been above 90 % for 30 s.',
  processes: { cpu: [{ name: 'burn', count: 1, value: 12.5 }], memory: null, disk: null },
};

/** The same as an event of a machine, but for its number and the id of the machine. */
export const FAKE_MACHINE_EVENT = {
  kind: 'rule',
  subject: 'busy cpu.load',
  severity: 'warning',
  state: 'begin',
  begin: FAKE_EVENT.at,
  end: null,
  value: FAKE_EVENT.value,
  limit: null,
  text: FAKE_EVENT.text,
  processes: FAKE_EVENT.processes,
} as const;

const UNITS: Readonly<Record<string, string>> = {
  'cpu.load': '%',
  'memory.used_percent': '%',
  'network.receive': 'bytes/s',
  'network.send': 'bytes/s',
  'disk.used_percent//mnt/a,b': '%',
};

const patternOf = (name: string) =>
  new RegExp(`^${name.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`);

export class FakeHistory implements History {
  isOn = true;
  /** The requests, in order. */
  readonly asked: HistoryRequest[] = [];
  readonly askedAt: number[] = [];
  /** Unix seconds at which it ends. */
  now = () => FAKE_NOW;
  /** The value of a slot, by its place and its begin. */
  valueAt: (at: number, seconds: number) => number | null = (at) => (at === 1 ? null : at);
  /** More slots are too many. */
  maxSlots = 10_000;
  /** Awaited before each answer. */
  before: () => Promise<unknown> = async () => undefined;
  readonly #events = new Listeners<readonly [HistoryEvent]>();

  async query(request: HistoryRequest): Promise<HistoryPayload | 'too_many'> {
    this.asked.push(request);
    await this.before();
    const until = request.until ?? this.now();
    const since = request.since < 0 ? this.now() + request.since : request.since;
    const step = request.step ?? 10;
    const start = Math.floor(since / step) * step;
    const count = Math.max(0, Math.ceil((until - start) / step));
    if (count > this.maxSlots) return 'too_many';
    const patterns = request.series.map((name) => [name, patternOf(name)] as const);
    const isAsked = (name: string) =>
      patterns.length === 0 ? name === 'cpu.load' : patterns.some(([, pattern]) => pattern.test(name));
    const names = Object.keys(UNITS).filter(isAsked);
    const column = (more: number) =>
      Array.from({ length: count }, (_, at) => {
        const value = this.valueAt(at, start + at * step);
        return value === null ? null : value + more;
      });
    return {
      start,
      step,
      count,
      series: Object.fromEntries(
        names.map((name) => [
          name,
          {
            unit: UNITS[name] ?? '',
            mean: column(0.5),
            ...(step === 1 ? {} : { min: column(0), max: column(1) }),
          },
        ]),
      ),
      unknown: patterns
        .filter(([, pattern]) => !Object.keys(UNITS).some((name) => pattern.test(name)))
        .map(([name]) => name),
      ...(patterns.length === 0 ? { available: Object.keys(UNITS) } : {}),
      marks: [{ at: FAKE_NOW - 100, kind: 'start', seconds: null, text: 'The service was started.' }],
      events: [FAKE_EVENT],
    };
  }

  async processesAt(at: number): Promise<ProcessHistoryPayload> {
    this.askedAt.push(at);
    await this.before();
    return {
      at,
      taken_at: at - 3,
      window_seconds: 10,
      cpu: [{ name: 'burn', count: 2, value: 51.2 }],
      memory: [{ name: 'burn', count: 2, value: 2 ** 20 }],
      disk: null,
    };
  }

  onEvent(listener: (event: HistoryEvent) => void): () => void {
    return this.#events.add(listener);
  }

  notify(event: HistoryEvent): void {
    this.#events.notify(event);
  }
}
