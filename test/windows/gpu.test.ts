/** Graphics processors and clock speeds on Windows, reported by the test's own libraries in a separate prefix. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, unlinkSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import type { Finding } from '#src/host/finding.js';
import type { Counters } from '#src/host/host.js';
import { PREFIX, runNode, windowsPath } from './wine.ts';

t.setTimeout(240_000);

const root = path.resolve(import.meta.dirname, '../../../..');
const MIB = 1024 ** 2;
const script = windowsPath(path.join(import.meta.dirname, 'inside/addon.js'));

/** A DLL of test/windows/, newly compiled. */
function compileFake(name: string): string {
  const folder = path.join(root, 'build/windows-fakes');
  mkdirSync(folder, { recursive: true });
  const dll = path.join(folder, `${name}.dll`);
  execFileSync('x86_64-w64-mingw32-g++-posix', [
    ...['-std=c++20', '-O1', '-Wall', '-Wextra', '-Werror', '-shared', '-static'],
    ...['-o', `${dll}.new`, path.join(root, `test/windows/fake_${name}.cc`)],
  ]);
  renameSync(`${dll}.new`, dll);
  return dll;
}

/** A Windows of this test's own, whose system folder has `fakes` in place of its own libraries of these names. */
function makePrefix(fakes: readonly string[]): string {
  const prefix = mkdtempSync(path.join(root, 'build/wine-gpu-'));
  t.teardown(() => {
    spawnSync('wineserver', ['-k'], { env: { ...process.env, WINEPREFIX: prefix } });
    rmSync(prefix, { recursive: true, force: true });
  });
  // Links, as nothing writes into these files; the registry's are written, so those are copies.
  execFileSync('cp', ['-al', `${PREFIX}/.`, prefix]);
  for (const file of readdirSync(prefix).filter((name) => name.endsWith('.reg'))) {
    unlinkSync(path.join(prefix, file));
    copyFileSync(path.join(PREFIX, file), path.join(prefix, file));
  }
  for (const name of fakes) {
    const place = path.join(prefix, `drive_c/windows/system32/${name}.dll`);
    rmSync(place, { force: true });
    copyFileSync(compileFake(name), place);
  }
  return prefix;
}

interface Report {
  readonly third: Counters;
  readonly findings: readonly Finding[];
}

async function report(t: Test, env: Readonly<Record<string, string>>): Promise<Report> {
  const { code, stdout, stderr } = await runNode([script], { env });
  t.equal(code, 0, stderr);
  // Our own program printed it.
  return JSON.parse(stdout) as Report;
}

const INTEL = {
  name: 'Intel(R) UHD Graphics 770',
  vendor: 'Intel',
  loadPercent: 100,
  temperatureCelsius: null,
  memoryUsedBytes: 1000 * MIB,
  memoryTotalBytes: 16_128 * MIB,
  powerWatts: null,
  fanPercent: null,
  clockMhz: null,
  isAsleep: false,
};
const AMD = {
  ...INTEL,
  name: 'AMD Radeon RX 7900 XTX',
  vendor: 'AMD',
  loadPercent: 62.5,
  memoryUsedBytes: 3000 * MIB,
  memoryTotalBytes: 24_560 * MIB,
};
const NVIDIA = {
  ...INTEL,
  name: 'NVIDIA GeForce RTX 4070',
  vendor: 'NVIDIA',
  loadPercent: 0,
  memoryUsedBytes: null,
  memoryTotalBytes: 12_282 * MIB,
};

const overrides = (...names: readonly string[]) => ({ WINEDLLOVERRIDES: `${names.join(',')}=n` });

t.test('[3.windows] DXGI names them, the performance counters report their load and memory', async (t) => {
  const WINEPREFIX = makePrefix(['dxgi', 'pdh']);
  const env = { WINEPREFIX, ...overrides('dxgi', 'pdh') };
  const { third, findings } = await report(t, env);
  // Discrete ones first, in Windows' order; the busiest engine is the load, 100 at most; no adapter without hardware.
  t.same(third.gpu, [AMD, NVIDIA, INTEL]);
  t.equal(third.failures, undefined);
  const gpu = findings.find(({ subject }) => subject === 'gpu');
  const source = 'DXGI and the performance counters, without temperature,';
  for (const line of [
    `Intel.* \\(wddm, luid-\\d+\\): load, memory from ${source} power, fan, clock;`,
    `AMD .* \\(wddm, luid-\\d+\\): load, memory from ${source} power, fan, clock;`,
    `NVIDIA .* \\(wddm, luid-\\d+\\): load from ${source} memory, power, fan, clock$`,
  ])
    t.match(gpu?.source, new RegExp(line));
  const nominal = 1e6 * Math.round((third.cpu?.coreSpeedsHz?.[0] ?? 0) / 1.25e6);
  t.same(
    third.cpu?.coreSpeedsHz?.slice(0, 2),
    [nominal * 1.25, nominal * 0.5],
    'in the order of the processors',
  );

  const without = await report(t, { ...env, HOSTWIRE_FAKE_PDH: 'none' });
  t.same(
    without.third.gpu,
    [AMD, NVIDIA, INTEL].map((gpu) => ({ ...gpu, loadPercent: null, memoryUsedBytes: null })),
    'without the counters nothing of theirs is read, and that does not become 0',
  );
  t.ok((without.third.cpu?.speedHz ?? 0) > 1e8, 'the power manager reports the speed then');
});

t.test("NVML reports on NVIDIA's devices, and nothing else does then", async (t) => {
  const WINEPREFIX = makePrefix(['dxgi', 'pdh', 'nvml']);
  const env = { WINEPREFIX, ...overrides('dxgi', 'pdh', 'nvml') };
  const reported = {
    ...NVIDIA,
    loadPercent: 37,
    temperatureCelsius: 61,
    memoryUsedBytes: 2000 * MIB,
    powerWatts: 151.4,
    fanPercent: 45,
    clockMhz: 2520,
  };
  const { third, findings } = await report(t, env);
  t.same(third.gpu, [reported, AMD, INTEL]);
  const gpu = findings.find(({ subject }) => subject === 'gpu');
  t.match(gpu?.source, /^NVIDIA .* \(nvidia, 0000:01:00\.0\): load, temperature, .* from NVML; /);

  const broken = await report(t, { ...env, HOSTWIRE_FAKE_NVML: 'broken' });
  t.same(broken.third.gpu, [AMD, NVIDIA, INTEL], 'where it fails, the counters report what they can');
  t.match(broken.third.failures?.['gpu'], /^NVML: .+/, 'and the reason is said');
});

t.test("Wine's own adapter, on a display", async (t) => {
  // -displayfd: a free display, reported when it is ready.
  const display = spawn('Xvfb', ['-displayfd', '1', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  t.teardown(() => display.kill());
  const number = await new Promise<string>((resolve) =>
    display.stdout.setEncoding('utf8').once('data', (text: string) => resolve(text.trim())),
  );
  const WINEPREFIX = makePrefix([]);
  const { third } = await report(t, { WINEPREFIX, DISPLAY: `:${number}`, HOSTWIRE_WAITS_FOR_GPU: '1' });
  const [gpu] = third.gpu ?? [];
  t.match(gpu, {
    name: /\w/,
    vendor: /\w/,
    loadPercent: null,
    temperatureCelsius: null,
    memoryUsedBytes: null,
  });
  t.ok((gpu?.memoryTotalBytes ?? 0) > 0, `${gpu?.name}: ${gpu?.memoryTotalBytes} bytes`);
});
