/** The answer to a scrape: the kernel's counters, what probers know, and the service itself, read once a second at most. */
import type { Clock } from '../../clock.ts';
import { codeOf } from '../../errors.ts';
import { ALL_SECTIONS, type Host, SECTION_BITS } from '../../host/host.ts';
import type { ProcessColumns } from '../../host/processes.ts';
import { gzipped } from '../../http/compress.ts';
import { FRESH_MS } from '../../stats/freshness.ts';
import { DETAIL_BITS, type Needs } from '../../stats/needs.ts';
import type { SampleSource } from '../../stats/source.ts';
import { deviceFamilies } from './devices.ts';
import { type Family, toOpenMetrics, writeFamily } from './exposition.ts';
import { chooseForm, type Form, TYPE_OF } from './negotiate.ts';
import { type OwnDeps, ownFamilies } from './own.ts';
import { platformFamilies } from './platform.ts';
import { ProcessGroups } from './process-groups.ts';

/** The parts of the service that metrics are made of. */
export interface MetricsDeps extends OwnDeps {
  readonly host: Pick<Host, 'readMetrics' | 'readSystem'>;
  readonly source: Pick<SampleSource, 'latest'>;
  readonly clock: Pick<Clock, 'sinceBoot'>;
  /** A recent reading of all processes; undefined where they cannot be listed. */
  readonly processes: { columns(): Promise<ProcessColumns> } | undefined;
}

/** The needs of families that only probers read; and of all, where the kernel has no counters as text. */
const DEVICES: Needs = {
  sections: SECTION_BITS.cpu | SECTION_BITS.gpu | SECTION_BITS.disks,
  withDetail: true,
  details: DETAIL_BITS.sensors | DETAIL_BITS.batteries,
};
const EVERYTHING: Needs = { ...DEVICES, sections: ALL_SECTIONS };

export interface Scrape {
  readonly type: string;
  readonly isGzip: boolean;
  readonly body: Buffer;
}

/** The text repeats itself: a higher level saves 5 % of the bytes and takes three times as long. */
const GZIP_LEVEL = 1;

/** Readings of processes take at most this part of a processor's time: 10,000 processes take 100 ms and more. */
const MAX_PROCESS_SHARE = 0.01;

const write = (families: readonly Family[]) => families.map(writeFamily).join('');
const isUnsupported = (error: unknown) => codeOf(error) === 'ENOTSUP';

/** One reading in the forms that were asked for: each is made once. */
class Reading {
  readonly #text: Buffer;
  readonly #forms = new Map<string, Promise<Buffer>>();

  constructor(text: Buffer) {
    this.#text = text;
  }

  body(form: Form): Promise<Buffer> {
    const name = `${form.isOpenMetrics} ${form.isGzip}`;
    let made = this.#forms.get(name);
    if (made === undefined) {
      made = this.#make(form);
      this.#forms.set(name, made);
    }
    return made;
  }

  async #make({ isOpenMetrics, isGzip }: Form): Promise<Buffer> {
    if (isGzip) return await gzipped(await this.body({ isOpenMetrics, isGzip: false }), GZIP_LEVEL);
    return isOpenMetrics ? Buffer.from(toOpenMetrics(this.#text.toString())) : this.#text;
  }
}

export class Metrics {
  readonly #options: MetricsDeps;
  #hasKernelTexts = true;
  /** The last reading, or the one that is under way. */
  #reading: Promise<Reading> | undefined;
  #isReading = false;
  #readAtMs = Number.NEGATIVE_INFINITY;
  /** undefined while `features.enable_processes` is off. */
  #groups: ProcessGroups | undefined;
  #processesDueMs = Number.NEGATIVE_INFINITY;

  constructor(options: MetricsDeps) {
    this.#options = options;
  }

  /** `accept` and `encodings`: the entries of the headers Accept and Accept-Encoding. Rejects when the machine cannot be read. */
  async scrape(accept: readonly string[], encodings: readonly string[]): Promise<Scrape> {
    const form = chooseForm(accept, encodings);
    const { clock } = this.#options;
    let reading = this.#reading;
    // Also of one that waits for the kernel: no second thread is started for the same question.
    if (reading === undefined || (!this.#isReading && clock.sinceBoot() - this.#readAtMs >= FRESH_MS))
      reading = this.#begin();
    const body = await (await reading).body(form);
    return { type: form.isOpenMetrics ? TYPE_OF.openMetrics : TYPE_OF.text, isGzip: form.isGzip, body };
  }

  #begin(): Promise<Reading> {
    this.#isReading = true;
    this.#readAtMs = this.#options.clock.sinceBoot();
    const reading = this.#read().finally(() => {
      this.#isReading = false;
    });
    this.#reading = reading;
    // A failure is not kept.
    reading.catch(() => {
      this.#reading = undefined;
    });
    return reading;
  }

  async #read(): Promise<Reading> {
    const { source } = this.#options;
    const [kernel, { sample }, processes] = await Promise.all([
      this.#readKernel(),
      source.latest(this.#hasKernelTexts ? DEVICES : EVERYTHING),
      this.#readProcesses(),
    ]);
    const families = [...deviceFamilies(sample.counters), ...processes, ...ownFamilies(this.#options)];
    return new Reading(Buffer.concat([kernel, Buffer.from(write(families))]));
  }

  /** Returns the families of the newest reading, or of the last one if there is no new one. */
  async #readProcesses(): Promise<readonly Family[]> {
    const { config, clock, processes } = this.#options;
    if (processes === undefined || !config.current.features.enable_processes) {
      this.#groups = undefined;
      this.#processesDueMs = Number.NEGATIVE_INFINITY;
      return [];
    }
    this.#groups ??= new ProcessGroups();
    const groups = this.#groups;
    if (clock.sinceBoot() >= this.#processesDueMs) {
      const columns = await processes.columns().catch(() => undefined);
      if (columns !== undefined) {
        this.#processesDueMs = clock.sinceBoot() + columns.spentNs / 1e6 / MAX_PROCESS_SHARE;
        groups.update(columns);
      }
    }
    return groups.families();
  }

  async #readKernel(): Promise<Buffer> {
    const { host, source, facts } = this.#options;
    if (this.#hasKernelTexts)
      try {
        return await host.readMetrics();
      } catch (error) {
        if (!isUnsupported(error)) throw error;
        this.#hasKernelTexts = false;
      }
    const [{ sample }, { hostname, os }] = await Promise.all([source.latest(EVERYTHING), host.readSystem()]);
    const names = {
      sysname: facts.platform === 'win32' ? 'Windows' : facts.platform,
      release: os.version,
      version: os.build,
      machine: os.arch,
      nodename: hostname,
    };
    return Buffer.from(write(platformFamilies(sample.counters, names)));
  }
}
