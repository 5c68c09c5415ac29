/** The whole screen as text, at every size and with every oddity of a service. */
import t, { type Test } from 'tap';
import { drawScreen, type Size } from '#src/cli/top/layout.js';
import { measure, paint } from '#src/cli/top/text.js';
import type { Sample, View } from '#src/cli/top/view.js';
import { TOP_KEYS } from '#src/cli/top-keys.js';
import { judgeColumns, judgeScreen } from './judge.ts';
import { rowOf, SAMPLE, viewOf } from './views.ts';

function linesOf(view: View, size: Size): readonly string[] {
  return drawScreen(view, size, false).lines.map((line) => paint(line, 'none', false));
}

/** Every line has exactly the columns of the terminal. */
function judgeWidths(t: Test, view: View, size: Size): void {
  const { lines } = drawScreen(view, size, false);
  t.equal(lines.length, size.rows);
  const widths = lines.map((line) => measure(line.map(({ text }) => text).join('')));
  t.same([...new Set(widths)], [size.columns], `${size.columns}x${size.rows}`);
}

const many = <T>(count: number, make: (at: number) => T) =>
  Array.from({ length: count }, (_, at) => make(at));

/** 300 processors, 40 disks, 30 interfaces, 5 GPUs, 90 sensors; of each what the screen shows. */
const LARGE = {
  ...SAMPLE,
  cpu: { ...SAMPLE.cpu, cores: many(300, (at) => at % 100) },
  disks: many(40, (at) => ({
    fs: `/srv/文書/${at}`,
    used: at,
    available: 1e12,
    used_percent: at,
    stale: at === 3,
    read_rate: 1e9,
    write_rate: 1e9,
  })),
  network: {
    ...SAMPLE.network,
    interfaces: many(30, (at) => ({ name: `veth日本${at}`, up: true, send_rate: 1e9, receive_rate: 1e9 })),
  },
  gpu: {
    current_load: 12,
    devices: many(5, (at) => ({
      name: `GPU ${'長'.repeat(60)}`,
      load: 99,
      temperature: 60,
      memory_used: 1,
      memory_total: 1,
      power_watts: 300,
      asleep: at === 2,
    })),
  },
  sensors: many(90, (at) => ({ label: `nct ${'x'.repeat(at)}`, kind: 'fan', value: at, unit: 'RPM' })),
} as unknown as Sample; // The rest of a sample is not on the screen.

const SIZES: readonly Size[] = [
  ...[60, 61, 79, 80, 100, 119, 120, 121, 200, 500].map((columns) => ({ columns, rows: 20 })),
  ...[21, 24, 25, 40, 60, 200].map((rows) => ({ columns: 80, rows })),
  { columns: 200, rows: 60 },
];

t.test('[9.top-sizes] every panel is there at every size from 60x20, and no line is too long', async (t) => {
  for (const size of SIZES) {
    const lines = linesOf(viewOf(), size);
    judgeScreen(t, lines, size);
    judgeColumns(t, lines, size);
    for (const view of [viewOf(), viewOf({ sample: LARGE })]) judgeWidths(t, view, size);
  }
});

t.test(
  '[9.top-sizes] a machine with more than fits leaves rows for processes, and counts the rest',
  async (t) => {
    for (const size of SIZES) {
      const { shown } = drawScreen(viewOf({ sample: LARGE }), size, false);
      t.ok(shown >= 1, `${shown} rows of processes at ${size.columns}x${size.rows}`);
    }
    const text = linesOf(viewOf({ sample: LARGE }), { columns: 80, rows: 24 }).join('\n');
    t.match(text, /Disks {4}.* \+3\d$/m);
    t.match(text, /Sensors {2}.* \+\d\d$/m);
  },
);

t.test('[9.top-sizes] a terminal that is too small gets one sentence', async (t) => {
  for (const size of [
    { columns: 59, rows: 20 },
    { columns: 60, rows: 19 },
    { columns: 20, rows: 3 },
    { columns: 1, rows: 1 },
  ]) {
    const lines = linesOf(viewOf(), size);
    t.equal(lines.length, size.rows);
    t.match(
      'hostwire top needs 60x20; this terminal has 59x20'.slice(0, size.columns),
      lines[0]?.slice(0, 30),
    );
    t.same(lines.slice(1).join(''), '');
  }
});

t.test('values stand where they belong', async (t) => {
  const lines = linesOf(viewOf(), { columns: 80, rows: 24 });
  const text = lines.join('\n');
  t.match(lines[0], /^workbench +up 1 d 3 h +http:\/\/pc:9990$/);
  t.match(text, /^CPU +12 % {2}3\.40 GHz {2}54 °C/m);
  t.match(text, /load 0\.50 0\.40 0\.30/);
  t.match(text, /^cores {4}▁▅█\?$/m);
  t.match(text, /^Memory +50 % {2}8\.00 GiB of 16\.0 GiB/m);
  t.match(text, /no swap/);
  t.match(text, /^Network {2}↓ 2\.00 KiB\/s ↑ 1\.00 KiB\/s/m);
  t.match(text, /^Sensors {2}k10temp Tctl 54 °C$/m);
  t.match(text, /^ +22 root +1\.0 % {2}22\.0 MiB bash$/m);
});

t.test('[9.top-untrusted] texts of the service cannot break out of their columns', async (t) => {
  const hostile = '\x1b[2J\x1b]0;owned\x07\r\n日本語\u202E';
  const view = viewOf({
    sample: { ...LARGE, host: hostile.repeat(9) },
    processes: { ...viewOf().processes, rows: [rowOf(1, hostile.repeat(30))] } as View['processes'],
    outage: { sinceMs: 0, reason: hostile.repeat(30) },
    note: hostile.repeat(30),
  });
  for (const size of SIZES) {
    judgeWidths(t, view, size);
    for (const line of drawScreen(view, size, false).lines)
      t.notMatch(line.map(({ text }) => text).join(''), /[\p{C}]/u);
  }
});

t.test('[9.top-outage] a missing or switched-off part is a sentence', async (t) => {
  const size = { columns: 80, rows: 24 };
  const { cpu: _cpu, memory: _memory, network: _network, disks: _disks, gpu: _gpu, ...bare } = SAMPLE;
  const text = linesOf(viewOf({ sample: bare, processes: undefined }), size).join('\n');
  for (const name of ['CPU', 'Memory', 'Network', 'GPU'])
    t.match(text, new RegExp(`^${name} +cannot be read`, 'm'));
  const off = { ...viewOf().connected, features: {} };
  const offText = linesOf(viewOf({ connected: off, processes: undefined }), size).join('\n');
  t.match(offText, /^Media +disabled in the service/m);
  t.match(offText, /^Processes {2}disabled in the service/m);
  const since = linesOf(viewOf({ outage: { sinceMs: 0, reason: 'gone' } }), size)[0];
  t.match(since, /^workbench +up 1 d 3 h +no answer since \d\d:\d\d:\d\d: gone$/);
});

t.test('the title of the track, and its position, which advances between reports', async (t) => {
  const status = {
    ...{ status: 'active', title: 'An Ending', artist: 'Brian Eno', playing: true },
    ...{ position: 97, duration: 264, rate: 1, player: 'spotify' },
  } as NonNullable<View['media']>['status']; // The rest is not on the screen.
  const lineOf = (view: View) =>
    linesOf(view, { columns: 80, rows: 24 }).find((line) => line.startsWith('Media')) ?? '';
  t.match(
    lineOf(viewOf({ media: { status, atMs: 0 }, nowMs: 3000 })),
    /playing An Ending – Brian Eno +1:40 \/ 4:24$/,
  );
  const paused = { ...status, playing: false };
  t.match(
    lineOf(viewOf({ media: { status: paused, atMs: 0 }, nowMs: 3000 })),
    /paused {2}An Ending .* 1:37 \/ 4:24$/,
  );
});

t.test('[9.top-help] the keys fit into the smallest screen', async (t) => {
  for (const size of SIZES) {
    const view = viewOf({ isHelp: true });
    judgeWidths(t, view, size);
    const lines = linesOf(view, size);
    for (const [keys, effect] of TOP_KEYS)
      t.ok(
        lines.some((line) => line.startsWith(keys) && line.endsWith(effect)),
        keys,
      );
    t.ok(lines.includes('The CPU of a process is its share of all processors.'));
    t.equal(lines.at(-1), 'press any key to return');
  }
});

t.test('the shares of the processor are all there, and add up', async (t) => {
  const cpu = {
    ...(SAMPLE.cpu as NonNullable<Sample['cpu']>),
    breakdown: { user: 10, nice: 20, system: 30, irq: 5, iowait: 4, steal: 1, idle: 30 },
  };
  const text = linesOf(viewOf({ sample: { ...SAMPLE, cpu } }), { columns: 80, rows: 60 }).join('\n');
  const shares = text.match(/(?<=(?:user|nice|system|irq|waiting|stolen) )\d+(?= %)/g) ?? [];
  t.same(shares.map(Number), [10, 20, 30, 5, 4, 1]);
  t.match(text, /^ +PID USER .*running\), CPU of all cores$/m);
});
