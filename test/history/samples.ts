/** Samples for the history, derived from literal counters as the sampler derives them. */
import type { Counters } from '#src/host/host.js';
import { NO_BASELINE } from '#src/stats/baseline.js';
import { deriveSample, type Sample } from '#src/stats/sample.js';
import { at, BATTERY, cpu, disk, gpu, link, memory, times } from '../stats/literals.ts';

const FACTS = { interval_seconds: 2, host: 'box' };

/** One sample per reading, each compared with the one before. */
export function samplesOf(readings: readonly Counters[], withDetail = true): readonly Sample[] {
  let before = NO_BASELINE;
  return readings.map((counters) => {
    const { sample, baseline } = deriveSample(before, counters, withDetail ? FACTS : undefined);
    before = baseline;
    return sample;
  });
}

const sensor = (index: number) => ({
  driver: 'chip',
  chip: 'chip',
  label: `chip temp${index}`,
  kind: 'temperature' as const,
  value: 40 + index,
  failure: null,
});

const battery = {
  ...BATTERY,
  state: 'charging' as const,
  percent: 80,
  energyWh: 40,
  energyFullWh: 50,
  energyDesignWh: 60,
  powerWatts: 10,
};

/** A desktop with 16 cores, 8 disks, 12 sensors, 2 GPUs, 3 interfaces, a battery and a limit. */
export function desktopAt(seconds: number): Counters {
  const total = times({ user: seconds * 30, idle: seconds * 70 });
  const used = (bytes: number) => ({ readBytes: bytes, writeBytes: 2 * bytes, busyMs: seconds * 100 });
  return at(seconds, {
    clockErrorSeconds: 0.25,
    cpu: cpu(total, {
      temperatureCelsius: 50,
      speedHz: 3.5e9,
      cores: Array.from({ length: 16 }, (_, index) => ({ index, ...total })),
      loadAverage: [1.5, 1, 0.5],
      pressure: { some: 2, full: 0 },
      energy: {
        takenAtNs: seconds * 1e9,
        zones: [{ name: 'package-0', microjoules: seconds * 15e6, rangeMicrojoules: 262e9 }],
        failure: null,
      },
    }),
    memory: memory({ swapTotalBytes: 100, swapFreeBytes: 75, pressure: { some: 1, full: 0 } }),
    gpu: [0, 1].map(() =>
      gpu({ loadPercent: 12, temperatureCelsius: 60, memoryUsedBytes: 2 ** 30, powerWatts: 90 }),
    ),
    disks: Array.from({ length: 8 }, (_, index) =>
      disk(`/disk${index}`, { device: `sd${index}`, io: used(seconds * 1000) }),
    ),
    network: ['eth0', 'wlan0', 'lo'].map((name, index) =>
      link(name, { index: index + 1, receivedBytes: seconds * 5000, sentBytes: seconds * 700 }),
    ),
    sensors: Array.from({ length: 12 }, (_, index) => sensor(index)),
    batteries: [battery],
    limits: { memoryBytes: 2 ** 30, memoryUsedBytes: 2 ** 28, cpus: 2, throttling: null, failure: null },
  });
}
