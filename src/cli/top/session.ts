/** Keeps the view current over one WebSocket. */
import { ClientError, type Connected, type HostSocket } from '../../client/client.ts';
import type { MediaDetail } from '../../wire/media.ts';
import type { ProcessRow } from '../../wire/process.ts';
import type { KeyAction } from './keys.ts';
import { readPast, withPast } from './past.ts';
import { FIRST_POINTS, type Listing, type Processes, type Sample, type View, withPoints } from './view.ts';

/** A slow link may need this long for one answer. */
const TIMEOUT_MS = 60_000;
/** Minimum time between two lists, whatever keys are pressed. */
const LEAST_REST_MS = 250;
const MAX_INTERVAL_SECONDS = 60;

/** Returns the time between two samples, within limits. */
const intervalOf = ({ interval_seconds: seconds }: Sample) =>
  seconds >= 1 ? Math.min(seconds, MAX_INTERVAL_SECONDS) : 1;

const isOn = ({ features }: Connected, feature: string) => features?.[feature] === true;

async function readSample(socket: HostSocket): Promise<Sample> {
  const { stats } = await socket.get(['stats'], { detail: true, timeoutMs: TIMEOUT_MS });
  // With `detail` they have this shape.
  return stats as Sample;
}

async function readProcesses(socket: HostSocket, listing: Listing, shown: number): Promise<Processes> {
  const { sort, query, offset } = listing;
  // One more screen, for the next page.
  const asked = { sort, query, limit: offset + 2 * shown, grouped: false, timeoutMs: TIMEOUT_MS };
  const { processes, total_count: total } = await socket.processes.list(asked);
  // One row per process, because they are not grouped.
  return { rows: processes as readonly ProcessRow[], total, listing };
}

/** Returns the service's greeting. Rejects with the reason if the first attempt fails. */
export const greeted = (socket: HostSocket) =>
  new Promise<Connected>((resolve, reject) => {
    socket.on('connected', resolve);
    socket.on('state', (state) => {
      if ('error' in state && state.error !== undefined) reject(state.error);
    });
  });

/** Returns false for a hub and its machines, which send no flags. */
export const sendsFlags = ({ features }: Connected) => Object.keys(features).length > 0;

const isSwitchedOff = (error: unknown) => error instanceof ClientError && error.code === 'FEATURE_DISABLED';

/** Reads all of it, once. `url`: for the header. */
export async function readView(
  socket: HostSocket,
  connected: Connected,
  url: string,
  shown: number,
): Promise<View> {
  const listing: Listing = { sort: 'cpu', query: '', offset: 0 };
  // Without flags the answers show which features are switched off.
  const features: Record<string, boolean> = sendsFlags(connected)
    ? { ...connected.features }
    : { enable_media: true, enable_processes: true, enable_process_control: true };
  const ask = async <T>(feature: string, question: () => Promise<T>): Promise<T | undefined> => {
    if (features[feature] !== true) return undefined;
    try {
      return await question();
    } catch (error) {
      // Other errors: without a session bus players cannot be reached.
      if (isSwitchedOff(error)) features[feature] = false;
      return undefined;
    }
  };
  const [sample, snapshot, processes] = await Promise.all([
    readSample(socket),
    ask('enable_media', () => socket.get(['media'], { detail: true })),
    ask('enable_processes', () => readProcesses(socket, listing, shown)),
  ]);
  const status = snapshot?.media as MediaDetail | undefined; // Checked as in readSample.
  const nowMs = Date.now();
  return {
    url,
    isOfHub: false,
    nowMs,
    sample,
    processes,
    listing,
    connected: { ...connected, features },
    media: status === undefined ? undefined : { status, atMs: nowMs },
    outage: undefined,
    traces: withPoints(FIRST_POINTS, sample),
    isHelp: false,
    isTyping: false,
    selected: undefined,
    ending: undefined,
    note: '',
  };
}

/** Returns `view` with charts that begin before it. */
export async function readCharts(socket: HostSocket, view: View): Promise<View> {
  const interval = intervalOf(view.sample);
  const past = await readPast(socket, interval, TIMEOUT_MS);
  return { ...view, traces: withPast(view.traces, past, interval) };
}

/**
 * Requests the next sample when the last one has arrived and its interval is over. Samples that the service pushes
 * would queue in front of a slow link, and the screen would fall behind.
 */
export class Session {
  readonly #socket: HostSocket;
  readonly #onChange: () => void;
  #view: View;
  #shown: number;
  #lost: string | undefined;
  #answeredMs = Date.now();
  #isEnded = false;
  #isWanted = false;
  /** The next sample is the first one after an outage. */
  #isFirst = false;
  #stopResting: () => void = () => undefined;

  constructor(socket: HostSocket, view: View, shown: number, onChange: () => void) {
    this.#socket = socket;
    this.#view = view;
    this.#shown = shown;
    this.#onChange = onChange;
    socket.on('connected', (connected) => {
      this.#isFirst = true;
      const { features } = sendsFlags(connected) ? connected : this.#view.connected;
      this.#change({ connected: { ...connected, features } });
    });
    socket.on('state', (state) => {
      if (state.state === 'open') this.#lost = undefined;
      if (state.state === 'waiting') this.#lost = state.error.message;
      this.#onChange();
    });
    // Subscribed with `detail`.
    socket.on('media_update', (status) =>
      this.#change({ media: { status: status as MediaDetail, atMs: Date.now() } }),
    );
  }

  /** Returns the current view. */
  get view(): View {
    const nowMs = Date.now();
    const isLate = nowMs - this.#answeredMs > 3 * this.#intervalMs + 2000;
    const reason = this.#lost ?? (isLate ? 'slow connection or service' : undefined);
    const outage = reason === undefined ? undefined : { sinceMs: this.#answeredMs, reason };
    return { ...this.#view, nowMs, outage };
  }

  /** Applies a view changed by a key. */
  take(view: View, shown: number): void {
    const { listing } = this.#view;
    this.#shown = shown;
    this.#change(view);
    if (view.listing !== listing) this.#wake();
  }

  async run(): Promise<void> {
    if (isOn(this.#view.connected, 'enable_media'))
      this.#socket.subscribe(['media'], { detail: true }).catch(() => undefined);
    void this.#readPast();
    let dueMs = performance.now() + this.#intervalMs;
    while (!this.#isEnded) {
      await this.#rest(dueMs - performance.now());
      const isDue = performance.now() >= dueMs;
      if (isDue) dueMs = performance.now() + this.#intervalMs;
      await Promise.all([isDue && this.#readSample(), this.#readProcesses()]);
    }
  }

  async end({ end, by }: Exclude<KeyAction, string>): Promise<void> {
    const { pid, started_at, name } = end;
    const note = await this.#socket.processes.kill({ pid, started_at }, { by }).then(
      () => `${name} (${pid}) has ended`,
      (error: Error) => `${name} (${pid}): ${error.message}`,
    );
    this.#change({ note });
    this.#wake();
  }

  close(): void {
    this.#isEnded = true;
    this.#socket.close();
    this.#wake();
  }

  get #intervalMs(): number {
    return 1000 * intervalOf(this.#view.sample);
  }

  #change(changed: Partial<View>): void {
    this.#view = { ...this.#view, ...changed };
    this.#onChange();
  }

  async #readSample(): Promise<void> {
    await readSample(this.#socket).then(
      (sample) => {
        this.#answeredMs = Date.now();
        this.#change({ sample, traces: withPoints(this.#view.traces, sample) });
        if (this.#isFirst) void this.#readPast();
        this.#isFirst = false;
      },
      (error: Error) => this.#note(error),
    );
  }

  /** Never rejects. */
  async #readPast(): Promise<void> {
    const interval = intervalOf(this.#view.sample);
    const past = await readPast(this.#socket, interval, TIMEOUT_MS);
    this.#change({ traces: withPast(this.#view.traces, past, interval) });
  }

  async #readProcesses(): Promise<void> {
    if (!isOn(this.#view.connected, 'enable_processes')) return;
    await readProcesses(this.#socket, this.#view.listing, this.#shown).then(
      (processes) => this.#change({ processes }),
      (error: Error) => this.#note(error),
    );
  }

  /** Shows an error, unless the connection is lost: the outage has its own reason. */
  #note({ message }: Error): void {
    if (this.#lost === undefined && !this.#isEnded) this.#change({ note: message });
  }

  #wake(): void {
    this.#isWanted = true;
    this.#stopResting();
  }

  async #rest(ms: number): Promise<void> {
    const wait = (delayMs: number) =>
      new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, delayMs);
        this.#stopResting = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    if (!this.#isWanted) await wait(Math.max(LEAST_REST_MS, ms));
    if (this.#isWanted && !this.#isEnded) {
      this.#isWanted = false;
      await wait(LEAST_REST_MS);
    }
  }
}
