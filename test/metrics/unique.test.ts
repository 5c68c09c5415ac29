/** Names that others choose, and that are equal once they are text: no series twice, because Prometheus rejects that. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { deviceFamilies } from '#src/exporters/prometheus/devices.js';
import { toOpenMetrics, writeFamily } from '#src/exporters/prometheus/exposition.js';
import { platformFamilies } from '#src/exporters/prometheus/platform.js';
import type { SensorCounters } from '#src/host/details.js';
import type { Counters } from '#src/host/host.js';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { makeMachine } from '../helpers/machine/tree.ts';
import { HEADER } from '../native/network-tree.ts';
import { parseFamilies } from './families.ts';

/** Throws for two series with the same labels, in both forms, as the bytes that a client gets. */
function parse(text: string) {
  const sent = Buffer.from(text).toString();
  parseFamilies(toOpenMetrics(sent));
  return parseFamilies(sent);
}

t.test('[3.metrics-unique] a family that is given the same labels twice', async (t) => {
  const family = { name: 'x', help: 'y', type: 'gauge' } as const;
  const samples = [
    { labels: { device: 'a' }, value: null },
    { labels: { device: 'a' }, value: 1 },
    { labels: { device: 'b' }, value: 2 },
    { labels: { device: 'a' }, value: 3 },
    // Encoded as they are, both would be U+FFFD.
    { labels: { device: '\ud800' }, value: 4 },
    { labels: { device: '\ud801' }, value: 5 },
  ];
  const families = parse(writeFamily({ ...family, samples }));
  t.strictSame(
    [...(families.get('x')?.samples ?? [])],
    [
      ['device=a', 1],
      ['device=b', 2],
      [String.raw`device=\\ud800`, 4],
      [String.raw`device=\\ud801`, 5],
    ],
  );
  t.equal(writeFamily({ ...family, samples: [{ value: 1 }, { value: 2 }] }).split('\n').length, 4);
});

t.test(
  '[3.metrics-unique] filesystems, sensors, batteries, GPUs and interfaces of equal names',
  async (t) => {
    const read: Counters = fixtureHost().readCounters(31, true, 0);
    const twice = <T>(all: readonly T[] | null | undefined): readonly T[] => [...(all ?? []), ...(all ?? [])];
    const sensor: SensorCounters = {
      label: 'x',
      kind: 'temperature',
      value: 1,
      driver: 'nct',
      chip: 'nct',
      file: 'temp1_input',
      ownLabel: 'CPU',
      failure: null,
    };
    const counters: Counters = {
      ...read,
      disks: twice(read.disks),
      gpu: twice(read.gpu),
      batteries: twice(read.batteries),
      network: twice(read.network),
      // node_exporter's rule makes the same chip of both.
      sensors: [
        { ...sensor, device: 'platform/nct-6775.1' },
        { ...sensor, device: 'platform/nct_6775_1', value: 2 },
      ],
    };
    const names = { sysname: 'x', release: '1', version: '2', machine: 'y', nodename: 'z' };
    const all = [...deviceFamilies(counters), ...platformFamilies(counters, names)];
    const families = parse(all.map(writeFamily).join(''));
    t.equal(families.get('node_filesystem_readonly')?.samples.size, read.disks?.length);
    t.strictSame(
      [...(families.get('node_hwmon_temp_celsius')?.samples ?? [])],
      [['chip=platform_nct_6775_1,sensor=temp1', 1]],
    );
  },
);

/** Two names that differ in bytes that are not UTF-8, and are U+FFFD as text. */
const NAMES = [Buffer.from('net\xff', 'latin1'), Buffer.from('net\xfe', 'latin1')];

t.test('[3.metrics-unique] names of the kernel that are not UTF-8: each has its own series', async (t) => {
  const rows = (row: string) => NAMES.flatMap((name) => [Buffer.from('  '), name, Buffer.from(row)]);
  const machine = makeMachine(t, {
    'proc/net/dev': Buffer.concat([
      Buffer.from(HEADER),
      ...rows(': 11 12 13 14 15 16 17 18 21 22 23 24 25 26 27 28\n'),
    ]),
    'proc/diskstats': Buffer.concat(
      NAMES.flatMap((name, at) => [
        Buffer.from(` 8 ${at} `),
        name,
        Buffer.from(' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n'),
      ]),
    ),
    'sys/class/power_supply': { folder: true },
  });
  for (const name of NAMES) {
    const folder = Buffer.concat([
      Buffer.from(`${path.join(machine.root, 'sys/class/power_supply')}/`),
      name,
    ]);
    mkdirSync(folder);
    writeFileSync(Buffer.concat([folder, Buffer.from('/online')]), '1\n');
  }
  const families = parse((await machine.host.readMetrics()).toString());
  for (const [family, label] of [
    ['node_network_receive_bytes_total', 'device'],
    ['node_disk_reads_completed_total', 'device'],
    ['node_power_supply_online', 'power_supply'],
  ] as const)
    t.strictSame(
      [...(families.get(family)?.samples.keys() ?? [])].sort(),
      [String.raw`${label}=net\\xfe`, String.raw`${label}=net\\xff`],
      family,
    );
});
