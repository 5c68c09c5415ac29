/** Samples as points. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { judgeSeries } from '#src/config/rows/watch-rows.js';
import { dotted, nameOf } from '#src/history/names.js';
import { pointsOf } from '#src/history/series.js';
import type { Sample } from '#src/stats/sample.js';
import { SERIES } from '#src/wire/series.js';
import { at, cpu, disk, gpu, link, memory, times } from '../stats/literals.ts';
import { desktopAt, samplesOf } from './samples.ts';

/** The points of `sample` by name, with their units. */
const textsOf = (sample: Sample | undefined, before?: Sample) =>
  Object.fromEntries(
    (sample ? pointsOf(sample, before) : []).map(({ name, unit, value }) => [name, `${value} ${unit}`]),
  );

t.test('the series of a detailed sample', async (t) => {
  const [first, second] = samplesOf([desktopAt(100), desktopAt(110)]);
  const points = textsOf(second, first);
  t.match(points, {
    'cpu.load': '30 %',
    'cpu.temperature': '50 °C',
    'cpu.speed': '3.5 GHz',
    'cpu.power': '15 W',
    'cpu.pressure': '2 %',
    'cpu.load_average': '1.5 ',
    'cpu.core/0': '30 %',
    'cpu.core/15': '30 %',
    'memory.used_percent': '60 %',
    'memory.used': `${600 / 2 ** 20} MiB`,
    'memory.swap_percent': '25 %',
    'memory.pressure': '1 %',
    'network.receive': '15000 bytes/s',
    'network.send': '2100 bytes/s',
    'network.receive/eth0': '5000 bytes/s',
    'network.send/lo': '700 bytes/s',
    'disk.used_percent//disk0': '52.6 %',
    'disk.read//disk7': '1000 bytes/s',
    'disk.write//disk7': '2000 bytes/s',
    'disk.busy//disk7': '10 %',
    'gpu.load/1': '12 %',
    'gpu.temperature/1': '60 °C',
    'gpu.memory/0': '1024 MiB',
    'gpu.power/0': '90 W',
    'sensor.temperature/chip temp11': '51 °C',
    'battery.charge/BAT0': '80 %',
    'battery.time_left/BAT0': '3600 s',
    'limits.memory_used': '256 MiB',
    'limits.cpus': '2 ',
    'clock.error': '0.25 s',
  });
  t.equal(new Set(Object.keys(points)).size, second && pointsOf(second, first).length, 'each once');
});

t.test('a series of each kind is one of the table that watch rules are checked with', async (t) => {
  const [first, second] = samplesOf([desktopAt(100), desktopAt(110)]);
  const guide = readFileSync(path.resolve(import.meta.dirname, '../../../../docs/history.md'), 'utf8');
  for (const { name } of second ? pointsOf(second, first) : []) {
    const [base = '', ...subject] = name.split('/');
    t.ok(['both', subject.length === 0 ? 'one' : 'each'].includes(SERIES[base] ?? ''), name);
  }
  for (const [name, form] of Object.entries(SERIES)) {
    t.equal(judgeSeries(form === 'each' ? `${name}/x` : name), undefined, name);
    // The guide describes the series of drives together.
    if (!name.startsWith('drive.') && name !== 'processes.age') t.match(guide, withEllipsis(name), name);
  }
});

/** The page shortens the names of a row: `battery.charge/BAT0`, `battery.power/…`. */
const withEllipsis = (name: string) => new RegExp(`\`${name.replaceAll('.', '\\.')}[/\`]`);

t.test('a first reading has no rates', async (t) => {
  const [first] = samplesOf([desktopAt(100)]);
  const points = textsOf(first);
  t.match(points, {
    'cpu.load': 'null %',
    'cpu.core/0': 'null %',
    'network.receive': 'null bytes/s',
    'disk.read//disk0': 'null bytes/s',
    'memory.used_percent': '60 %',
  });
  t.equal(points['network.receive/eth0'], undefined);
});

t.test('without detail: what it has, and a 0 that means unknown is none', async (t) => {
  const reading = (seconds: number) =>
    at(seconds, {
      cpu: cpu(times({ user: seconds, idle: seconds })),
      memory: memory(),
      gpu: [gpu({ loadPercent: 0, memoryUsedBytes: 2 ** 20 })],
      disks: [disk('/'), disk('/never', { usage: null })],
      network: [link('eth0', { receivedBytes: seconds * 10, sentBytes: 5 })],
    });
  const [first, second] = samplesOf([reading(10), reading(12)], false);
  t.strictSame(textsOf(second, first), {
    'cpu.load': '50 %',
    'cpu.temperature': 'null °C',
    'cpu.speed': 'null GHz',
    'memory.used_percent': '60 %',
    'memory.used': `${600 / 2 ** 20} MiB`,
    'gpu.load/0': 'null %',
    'gpu.temperature/0': 'null °C',
    'gpu.memory/0': '1 MiB',
    'disk.used_percent//': '52.6 %',
    'network.receive': '10 bytes/s',
    'network.send': '0 bytes/s',
    'network.receive/eth0': '10 bytes/s',
    'network.send/eth0': '0 bytes/s',
  });
});

t.test('a section that was not read has no series, one that failed has unknown ones', async (t) => {
  const [none] = samplesOf([at(10)], false);
  t.strictSame(textsOf(none), {});
  const [first, failed] = samplesOf(
    [desktopAt(8), at(10, { cpu: null, memory: null, network: null })],
    false,
  );
  t.strictSame(textsOf(failed, first), {
    'cpu.load': 'null %',
    'cpu.temperature': 'null °C',
    'cpu.speed': 'null GHz',
    'memory.used_percent': 'null %',
    'memory.used': 'null MiB',
  });
});

t.test('network rates', async (t) => {
  const reading = (seconds: number, links: readonly ReturnType<typeof link>[], slept = 0) =>
    at(seconds, { network: links }, slept);
  const rates = (readings: Parameters<typeof samplesOf>[0]) => {
    const [first, second] = samplesOf(readings, false);
    const points = textsOf(second, first);
    return [points['network.receive'], points['network.receive/eth0']];
  };
  const eth = (receivedBytes: number, more = {}) => link('eth0', { receivedBytes, ...more });
  t.strictSame(
    rates([reading(10, [eth(100)]), reading(20, [eth(50)])]),
    ['5 bytes/s', 'null bytes/s'],
    'a counter that began again: the sum continues',
  );
  t.strictSame(
    rates([reading(10, [eth(100)]), reading(20, [eth(300)], 5)]),
    ['null bytes/s', undefined],
    'across a suspend there is none',
  );
  t.strictSame(
    rates([reading(10, [eth(100)]), reading(20, [eth(300, { name: 'lan0' })])]),
    ['20 bytes/s', undefined],
    'under a new name it is the same interface',
  );
  t.strictSame(
    rates([
      { ...reading(10, [eth(100)]), networkTakenAtNs: 4e9 },
      { ...reading(20, [eth(300)]), networkTakenAtNs: 14.5e9 },
    ]),
    ['19.047619047619047 bytes/s', '19.047619047619047 bytes/s'],
    'over the time between the readings of the interfaces',
  );
  t.strictSame(
    rates([
      { ...reading(10, [eth(100)]), networkTakenAtNs: 4e9 },
      { ...reading(20, [eth(100)]), networkTakenAtNs: 4e9 },
    ]),
    ['null bytes/s', undefined],
    'none from one reading of them',
  );
});

t.test('names are made once', async (t) => {
  const [first, second] = samplesOf([desktopAt(100), desktopAt(110)]);
  if (first === undefined || second === undefined) throw new Error('no samples');
  const names = (sample: Sample) => pointsOf(sample, first).map(({ name }) => name);
  t.strictSame(names(second), names(second));
  t.equal(nameOf('disk.read', '/'), 'disk.read//');
  for (let index = 0; index < 5000; index++) nameOf('network.send', `veth${index}`);
  t.equal(nameOf('disk.read', '/'), 'disk.read//', 'also after many that are forgotten');
  t.strictSame(['battery_time_left', 'processes', 'processes_running'].map(dotted), [
    'battery.time_left',
    'processes.count',
    'processes.running',
  ]);
});
