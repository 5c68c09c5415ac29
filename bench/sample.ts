/**
 * CPU time of one sample (with `--detail` a detailed one), compared with a C loop over the same files, a bare Node timer and
 * systeminformation. With `--beside FOLDER`, a built checkout of another commit, that one's is measured in the same run.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { abba, machineBusyNs, median } from './cpu.ts';
import { BUILD, publish, ROOT } from './report.ts';
import { openService } from './service-subject.ts';
import { Subject } from './subject.ts';
import { type Step, traceSample } from './trace.ts';

/** A subject that runs rounds and reports their CPU time. */
interface Runner {
  run(count: number, intervalMs: number): Promise<number>;
  stop(): Promise<void>;
}

interface Plan {
  readonly label: string;
  readonly intervalMs: number;
  readonly count: number;
  readonly blocks: number;
  readonly subjects: readonly string[];
}

const PACED = ['floor', 'timer', 'hostwire'] as const;
const PLANS: readonly Plan[] = [
  { label: 'back to back', intervalMs: 0, count: 3000, blocks: 8, subjects: ['floorOfMain', 'hostwire'] },
  { label: '10 per second', intervalMs: 100, count: 20, blocks: 6, subjects: PACED },
  { label: '1 per second', intervalMs: 1000, count: 4, blocks: 4, subjects: [...PACED, 'service'] },
  { label: '1 per second', intervalMs: 1000, count: 5, blocks: 1, subjects: ['systeminformation'] },
];
/** A detailed sample is requested by people who look at it, once per second or two. */
const DETAIL_PLANS: readonly Plan[] = [
  { label: 'back to back', intervalMs: 0, count: 1000, blocks: 6, subjects: ['floorOfMain', 'hostwire'] },
  { label: '1 per second', intervalMs: 1000, count: 3, blocks: 3, subjects: PACED },
];
/** Back to back; paced, where bare Node's timer takes 1.15 times the floor; share of a core at one event per second. */
const LIMIT = 1.5;
const PACED_LIMIT = 2.4;
const MAX_CORE_PERCENT = 0.1;
/** Rounds before the first one counts: a long-running service has compiled code and grown buffers. */
const WARM_UP = 5000;
/** A block is repeated when other programs used more than this share of a core during it. */
const MAX_NOISE = 0.1;
const MAX_RETRIES = 4;

const subjectPath = (name: string, root = ROOT) => path.join(root, `build/ts/bench/subjects/${name}.js`);
const besideAt = process.argv.indexOf('--beside');
const BESIDE = besideAt < 0 ? undefined : path.resolve(process.argv[besideAt + 1] ?? '');

/** Returns the subjects of `plan`, with the commit beside if there is one. */
function withBeside(plan: Plan): Plan {
  if (BESIDE === undefined || !plan.subjects.includes('hostwire')) return plan;
  return { ...plan, subjects: [...plan.subjects, 'beside'] };
}

function compileFloor(): string {
  mkdirSync(BUILD, { recursive: true });
  const binary = path.join(BUILD, 'read_floor');
  const source = path.join(ROOT, 'bench/native/read_floor.c');
  const { status } = spawnSync('gcc', ['-O2', '-Wall', '-Wextra', '-Werror', '-o', binary, source], {
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error('the floor of the sample bench was not compiled');
  return binary;
}

function openFloor(binary: string, steps: readonly Step[]): Subject {
  const words = steps.flatMap((step) =>
    Array.from({ length: Math.round(step.perSample) }, () => [step.kind, step.path]).flat(),
  );
  return new Subject(binary, words);
}

class Measurement {
  /** CPU nanoseconds per sample of each block, by subject. */
  readonly blocks = new Map<string, number[]>();
  discarded = 0;
  #retries = 0;

  async take(name: string, runner: Runner, plan: Plan): Promise<void> {
    while (true) {
      const began = process.hrtime.bigint();
      const busyBefore = machineBusyNs();
      const cpuNs = await runner.run(plan.count, plan.intervalMs);
      const wallNs = Number(process.hrtime.bigint() - began);
      const noise = (machineBusyNs() - busyBefore - cpuNs) / wallNs;
      // The machine's busy time is counted in ticks, so two of them are within the error.
      if (noise > MAX_NOISE + 2e7 / wallNs && this.#retries < MAX_RETRIES) {
        this.#retries++;
        this.discarded++;
        continue;
      }
      const known = this.blocks.get(name) ?? [];
      this.blocks.set(name, [...known, cpuNs / plan.count]);
      return;
    }
  }

  /** Returns the median of a subject's blocks, in microseconds per sample. */
  medianUs(name: string): number {
    return median(this.blocks.get(name) ?? []) / 1000;
  }

  /** Returns the median of `name` / `floor` over the ABBA rounds. */
  ratio(name: string, floor: string): number {
    const a = this.blocks.get(name) ?? [];
    const b = this.blocks.get(floor) ?? [];
    const pair = (values: readonly number[], at: number) =>
      (values[at] ?? Number.NaN) + (values[at + 1] ?? Number.NaN);
    const rounds = Math.floor(Math.min(a.length, b.length) / 2);
    return median(Array.from({ length: rounds }, (_, i) => pair(a, 2 * i) / pair(b, 2 * i)));
  }
}

async function measure(plan: Plan, runners: ReadonlyMap<string, Runner>): Promise<Measurement> {
  const measurement = new Measurement();
  for (let block = 0; block < plan.blocks; block++)
    for (const name of abba(plan.subjects)) {
      const runner = runners.get(name);
      if (runner === undefined) throw new Error(`no runner ${name}`);
      await measurement.take(name, runner, plan);
    }
  process.stderr.write(`${plan.label}: ${measurement.discarded} noisy blocks repeated\n`);
  return measurement;
}

const NAMES: ReadonlyMap<string, string> = new Map([
  ['floor', 'C: wake, clocks, reads, statvfs'],
  ['floorOfMain', "C: clocks and the JavaScript thread's reads"],
  ['timer', 'bare Node: a timer'],
  ['hostwire', 'hostwire: read, derive, encode'],
  ['beside', 'hostwire: the same, the commit beside'],
  ['service', 'hostwire: whole service, one subscriber'],
  ['systeminformation', 'systeminformation, child processes included'],
]);

function rowsOf(plan: Plan, measurement: Measurement): readonly (readonly string[])[] {
  const floor = plan.subjects.find((name) => name.startsWith('floor'));
  return plan.subjects.map((name) => {
    const ratio = floor === undefined ? '' : measurement.ratio(name, floor).toFixed(2);
    return [plan.label, NAMES.get(name) ?? name, `${measurement.medianUs(name).toFixed(1)} µs`, ratio];
  });
}

function describe(steps: readonly Step[]): string {
  // A call that occurs less than once in two samples is not part of the floor.
  const usual = steps.filter((step) => Math.round(step.perSample) > 0);
  const listOf = (isMain: boolean) =>
    usual
      .filter((step) => step.isMain === isMain)
      .map(({ kind, path: name }) => (kind === 'read' ? `\`${name}\`` : `statvfs \`${name}\``))
      .join(', ');
  return `Kernel files per sample, by strace: ${listOf(true)}; by a prober: ${listOf(false) || 'none'}.`;
}

/** Returns the targets for the whole service with one subscriber. */
function serviceTargets(measured: readonly (readonly [Plan, Measurement])[]) {
  return measured
    .filter(([plan]) => plan.subjects.includes('service'))
    .map(([, measurement]) => ({
      what: 'one subscriber, 1 event per second',
      // Microseconds per second.
      measured: measurement.medianUs('service') / 1e4,
      limit: MAX_CORE_PERCENT,
      unit: '% of a core',
    }));
}

export async function run(): Promise<void> {
  const isDetailed = process.argv.includes('--detail');
  const view = isDetailed ? ['detail'] : [];
  const steps = await traceSample(subjectPath('hostwire'), view);
  const binary = compileFloor();
  const main = steps.filter((step) => step.isMain);
  const node = (name: string, root?: string) =>
    new Subject(process.execPath, [subjectPath(name, root), ...view]);
  const plans = (isDetailed ? DETAIL_PLANS : PLANS).map(withBeside);
  const runners = new Map<string, Runner>([
    ['floor', openFloor(binary, steps)],
    ['floorOfMain', openFloor(binary, main)],
    ['timer', node('timer')],
    ['hostwire', node('hostwire')],
  ]);
  if (BESIDE !== undefined) runners.set('beside', node('hostwire', BESIDE));
  if (!isDetailed) {
    runners.set('service', await openService(1));
    runners.set('systeminformation', node('systeminformation'));
  }
  try {
    for (const name of ['hostwire', 'beside']) await runners.get(name)?.run(WARM_UP, 0);
    for (const name of ['timer', 'hostwire', 'beside']) await runners.get(name)?.run(500, 1);
    const measured: (readonly [Plan, Measurement])[] = [];
    for (const plan of plans) measured.push([plan, await measure(plan, runners)]);
    const ratios = measured
      .filter(([plan]) => plan.subjects.includes('hostwire'))
      .map(([plan, measurement]): [string, number] => [
        plan.label,
        measurement.ratio('hostwire', plan.subjects.find((name) => name.startsWith('floor')) ?? ''),
      ]);
    publish({
      name: isDetailed ? 'sample-detail' : 'sample',
      columns: ['rate', 'what', 'CPU time per sample, whole process', 'ratio to floor'],
      rows: measured.flatMap(([plan, measurement]) => rowsOf(plan, measurement)),
      targets: [
        ...ratios.map(([what, measured]) => {
          const limit = isDetailed || what === 'back to back' ? LIMIT : PACED_LIMIT;
          return { what, measured, limit, unit: '× floor' };
        }),
        ...serviceTargets(measured),
      ],
      notes: [describe(steps), 'The floor makes the same calls.', 'Medians over blocks in ABBA order.'],
      figures: {
        steps,
        ratios: Object.fromEntries(ratios),
        blocks: measured.map(([plan, m]) => ({ ...plan, nsPerSample: Object.fromEntries(m.blocks) })),
      },
    });
  } finally {
    for (const runner of runners.values()) await runner.stop();
  }
}
