/** Samples of a model machine: random histories, judged by what really happened. */
import process from 'node:process';
import t from 'tap';
import type { CpuTimes } from '#src/host/host.js';
import { NO_BASELINE } from '#src/stats/baseline.js';
import { deriveSample, type Sample } from '#src/stats/sample.js';
import { createRandom } from '../helpers/random.ts';
import { times } from './literals.ts';
import { addTimes, ModelMachine } from './machine-model.ts';

/** HOSTWIRE_FULL=1: a million. */
const READINGS = process.env['HOSTWIRE_FULL'] === '1' ? 1_000_000 : 20_000;
/** A machine lives this many readings. */
const LIFE = 500;
/** Rounding error of a number with one decimal, and of a rate in whole bytes. */
const ROUNDING = 0.05 + 1e-9;

const isPercent = (value: number | null) => value === null || (value >= 0 && value <= 100);
const isNear = (value: number, wanted: number) => Math.abs(value - wanted) <= ROUNDING;

function loadOf(spent: CpuTimes): number | null {
  const busy = spent.user + spent.nice + spent.system + spent.irq + spent.steal;
  const all = busy + spent.idle + spent.iowait;
  return all === 0 ? null : (busy / all) * 100;
}

type Check = readonly [isTrue: boolean, about: string];

function checkCpu({ cpu }: Sample, machine: ModelMachine): readonly Check[] {
  const detail = cpu?.detail;
  const { breakdown } = detail ?? {};
  const online = machine.cores.filter((core) => core.isOnline);
  const spent = times();
  for (const core of machine.cores) addTimes(spent, core.spent);
  const isWhole = machine.cores.every((core) => !core.isDisturbed);
  const expected = loadOf(spent);
  const load = detail?.current_load ?? null;
  const shares = Object.values(breakdown ?? {});
  return [
    [isPercent(load) && isPercent(cpu?.stats.current_load ?? null), `load ${load}`],
    [
      !isWhole || (expected === null ? load === null : isNear(load ?? -1, expected)),
      `load ${load}, spent ${expected}`,
    ],
    [detail?.cores.length === online.length, `${detail?.cores.length} cores of ${online.length}`],
    [shares.every(isPercent), `shares ${shares.join(' ')}`],
    [
      shares.length === 0 || Math.abs(shares.reduce((a, b) => a + b, 0) - 100) <= shares.length * ROUNDING,
      `the shares ${shares.join(' + ')} are not 100`,
    ],
    ...online.flatMap((core, at): Check[] => {
      const shown = detail?.cores[at] ?? null;
      const own = loadOf(core.spent);
      const isRight = core.isDisturbed || own === null || isNear(shown ?? -1, own);
      return [[isPercent(shown) && isRight, `core ${core.index} ${shown}, spent ${own}`]];
    }),
  ];
}

function checkMemory({ memory }: Sample): readonly Check[] {
  const detail = memory?.detail;
  const { used, free, used_percent } = memory?.stats ?? { used: -1, free: -1, used_percent: -1 };
  const { swap } = detail ?? {};
  return [
    [used >= 0 && free >= 0 && isPercent(used_percent), `used ${used}, free ${free}, ${used_percent} %`],
    [used + free === detail?.total, `used ${used} + free ${free} is not ${detail?.total}`],
    [swap != null && swap.used + swap.free === swap.total, 'used and free swap are all of it'],
  ];
}

function checkDisks({ disks }: Sample, machine: ModelMachine): readonly Check[] {
  const seconds = machine.elapsedMs / 1000;
  return machine.disks.flatMap((disk): Check[] => {
    const shown = disks?.detail?.find(({ fs }) => fs === disk.mountPoint);
    const { carried, device } = disk;
    const isKnown = !disk.isNew && !machine.hasSlept;
    const rateIs = (rate: number | null | undefined, bytes: number) => {
      if (rate == null || machine.hasSlept) return rate === null && !isKnown;
      const excess = rate * seconds - bytes;
      // Only the bytes of a new disk since an unknown moment are seen.
      return excess <= seconds && (disk.isNew || excess >= -seconds);
    };
    const { used = -1, available = -1, size = -1 } = shown ?? {};
    return [
      [shown?.device === device, `${device} is at ${disk.mountPoint}`],
      [
        isPercent(shown?.used_percent ?? null) && isPercent(shown?.busy_percent ?? null),
        `percents of ${device}`,
      ],
      [
        used === disk.usedBytes && (available ?? 0) + used <= (size ?? 0),
        `${used} used, ${available} available of ${size}`,
      ],
      [
        rateIs(shown?.read_rate, carried.read),
        `${shown?.read_rate} B/s read where ${carried.read} were in ${seconds} s`,
      ],
      [
        rateIs(shown?.write_rate, carried.written),
        `${shown?.write_rate} B/s written where ${carried.written} were`,
      ],
      [
        !isKnown || isNear(shown?.busy_percent ?? -1, (carried.busyMs / machine.elapsedMs) * 100),
        `busy ${shown?.busy_percent} % where ${carried.busyMs} ms of ${machine.elapsedMs} were`,
      ],
    ];
  });
}

/** Lives a machine's life; returns the errors, and the number of checks. */
function live(seed: number): { readonly errors: readonly string[]; readonly checks: number } {
  const random = createRandom(seed);
  const machine = new ModelMachine(random);
  const facts = { interval_seconds: 1, host: 'model' };
  const errors: string[] = [];
  let checks = 0;
  let { baseline } = deriveSample(NO_BASELINE, machine.read(), facts);
  machine.beginReading();
  for (let reading = 1; reading < LIFE; reading++) {
    for (let events = random.below(4); events > 0; events--) machine.change();
    machine.pass();
    const derived = deriveSample(baseline, machine.read(), facts);
    const { sample } = derived;
    const found = [...checkCpu(sample, machine), ...checkMemory(sample), ...checkDisks(sample, machine)];
    checks += found.length;
    for (const [isTrue, about] of found)
      if (!isTrue) errors.push(`seed ${seed}, reading ${reading}: ${about}`);
    ({ baseline } = derived);
    machine.beginReading();
  }
  return { errors, checks };
}

t.test(
  `${READINGS} readings of model machines: loads are 0 to 100 and sum to 100, memory to its total, each byte is in one rate`,
  async (t) => {
    let checks = 0;
    for (let seed = 1; seed <= READINGS / LIFE; seed++) {
      const life = live(seed);
      checks += life.checks;
      for (const error of life.errors.slice(0, 3)) t.fail(error);
      if (life.errors.length > 0) break;
    }
    t.ok(checks > READINGS * 10, `${checks} checks`);
  },
);
