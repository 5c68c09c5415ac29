/** The addon on Windows: every capability returns the machine's own values, or reports them as unknown. */
import { readFileSync, statfsSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import t from 'tap';
import type { Finding } from '#src/host/finding.js';
import type { Counters, SystemInfo } from '#src/host/host.js';
import { runNode, windowsPath } from './wine.ts';

t.setTimeout(240_000);

interface Report {
  readonly platform: string;
  readonly totalmem: number;
  readonly cpus: number;
  readonly cpuModel: string;
  readonly uptime: number;
  readonly hostname: string;
  readonly first: Counters;
  readonly second: Counters;
  readonly third: Counters;
  readonly plain: Counters;
  readonly system: SystemInfo;
  readonly folder: string;
  readonly descriptorLimit: string;
  readonly openDescriptors: string;
  readonly findings: readonly Finding[];
  readonly connectionsFailure: string;
}

const script = windowsPath(path.join(import.meta.dirname, 'inside/addon.js'));
const before = Date.now();
const { code, stdout, stderr } = await runNode([script]);
t.equal(code, 0, stderr);
// Our own program printed it.
const report = JSON.parse(stdout) as Report;
const { first, second, third } = report;

/** Within `share` of each other. */
const isNear = (a: number, b: number, share: number) => Math.abs(a - b) <= share * Math.max(a, b);

t.test('it runs on a system that says it is Windows', async (t) => {
  t.equal(report.platform, 'win32');
});

t.test('clocks: without suspend, with it, and the wall clock', async (t) => {
  const elapsed = (second.takenAtNs - first.takenAtNs) / 1e6;
  t.ok(elapsed >= 590 && elapsed < 20_000, `${elapsed} ms between two readings 600 ms apart`);
  t.ok(isNear(second.sinceBootNs - first.sinceBootNs, second.takenAtNs - first.takenAtNs, 0.2));
  t.ok(Math.abs(second.sinceBootNs / 1e9 - report.uptime) < 5, 'the uptime is as Node says');
  t.ok(Math.abs(report.uptime - os.uptime()) < 120, `${report.uptime} s: as this machine says`);
  t.ok(second.unixMs >= before && second.unixMs <= Date.now(), 'milliseconds of the wall clock');
});

t.test('processors', async (t) => {
  const count = os.cpus().length;
  t.equal(report.cpus, count);
  t.equal(second.cpu?.cores?.length, count);
  const spent = (counters: Counters) => {
    const { user = 0, system = 0, idle = 0, irq = 0 } = counters.cpu?.total ?? {};
    return user + system + idle + irq;
  };
  // In 100 ns; Linux's own counters step by 10 ms on each processor.
  const seconds = (spent(third) - spent(first)) / 1e7 / count;
  const elapsed = (third.takenAtNs - first.takenAtNs) / 1e9;
  t.ok(Math.abs(seconds - elapsed) < 0.1 + elapsed * 0.1, `${seconds} s were spent in ${elapsed} s`);
  const summed = second.cpu?.cores?.reduce((sum, core) => sum + core.user, 0);
  t.equal(second.cpu?.total.user, summed, 'the total is the sum of the processors');
  t.ok((third.cpu?.speedHz ?? 0) > 1e8, `${third.cpu?.speedHz} Hz`);
  t.equal(third.cpu?.coreSpeedsHz?.length, count);
  t.equal(third.cpu?.temperatureCelsius, null, 'nothing reports it, and it is not made up');
  t.equal(third.cpu?.loadAverage, null);
  t.equal(third.cpu?.pressure, null);
  t.notOk('cores' in (report.plain.cpu ?? {}), 'only with detail');
});

t.test('memory', async (t) => {
  const meminfo = readFileSync('/proc/meminfo', 'utf8');
  const available = Number(/^MemAvailable:\s+(\d+) kB/m.exec(meminfo)?.[1]) * 1024;
  const { totalBytes = 0, availableBytes = 0 } = second.memory ?? {};
  t.ok(isNear(totalBytes, os.totalmem(), 0.001), `${totalBytes} bytes`);
  t.ok(isNear(availableBytes, available, 0.1), `${availableBytes} available, here ${available}`);
  t.equal(second.memory?.swapTotalBytes, null, 'Wine does not report page files, and that does not become 0');
  t.equal(second.memory?.cachedBytes, null);
});

t.test('[3.windows] volumes', async (t) => {
  const here = statfsSync('/');
  const names = third.disks?.map((disk) => disk.mountPoint);
  t.ok(names?.includes('C:') && names.includes('Z:'), String(names));
  const root = third.disks?.find((disk) => disk.mountPoint === 'Z:');
  t.equal(root?.usage?.totalBytes, here.blocks * here.bsize);
  t.ok(isNear(root?.usage?.availableBytes ?? 0, here.bavail * here.bsize, 0.05));
  t.match(root, { type: 'NTFS', isReadOnly: false, isRemovable: false, isStale: false, io: null });
  t.match(root?.device, /^\\\\\?\\Volume\{[0-9a-f-]+\}$/, 'named without the last backslash');
  const early = first.disks?.find((disk) => disk.mountPoint === 'Z:');
  t.match(early, { usage: null, isStale: true }, 'before the first answer nothing is known of it');
});

t.test('interfaces', async (t) => {
  const dev = readFileSync('/proc/net/dev', 'utf8');
  for (const link of third.network ?? []) {
    const line = new RegExp(`^ *${link.name}: *(.*)$`, 'm').exec(dev)?.[1]?.split(/\s+/).map(Number);
    t.ok(line, `${link.name} is an interface here`);
    const [received = 0] = line ?? [];
    t.ok(received >= link.receivedBytes, `${link.receivedBytes} of ${received} bytes so far`);
    const own = os.networkInterfaces()[link.name]?.filter(({ address }) => !address.includes('%'));
    const known = own?.map(({ address }) => address) ?? [];
    t.same([...(link.addresses ?? [])].sort(), [...known].sort(), 'its addresses');
    if (link.kind !== 'loopback' && own?.[0]) t.equal(link.mac, own[0].mac);
  }
  const loopback = third.network?.find((link) => link.kind === 'loopback');
  t.match(loopback, { hasDevice: false, masterIndex: 0, lowerIndex: 0, isUp: true, speedMbps: null });
  const counted = report.plain.network?.filter((link) => link.hasDevice).map((link) => link.name);
  const all = third.network?.filter((link) => link.hasDevice).map((link) => link.name);
  t.same(counted, all, 'without detail the same ones count');
});

t.test('the description of the machine', async (t) => {
  const { system } = report;
  t.equal(system.hostname, report.hostname);
  t.match(system.os, { name: /^Windows 10/, version: '10.0', build: /^\d{5}$/, arch: 'x64' });
  t.equal(system.cpu.cores, os.cpus().length);
  t.ok(system.cpu.physicalCores >= 1 && system.cpu.physicalCores <= system.cpu.cores);
  // Node reads the same key of the registry. Linux may hide the name that the processor gives itself.
  // Intel's own name has trademark signs, which the service leaves out.
  const model = report.cpuModel.replaceAll(/\((?:R|TM|tm)\)/g, '');
  t.ok(model.startsWith(system.cpu.brand), `${model}: ${system.cpu.brand}`);
  t.match(system.cpu.manufacturer, /^(?:AMD|Intel|Hygon|VIA|Zhaoxin)$/);
  t.ok(isNear(system.memoryTotalBytes, os.totalmem(), 0.001));
  t.equal(system.memorySlots, null, "Wine's firmware table has no memory devices");
  const routed = system.network && os.networkInterfaces()[system.network.name];
  const hasRoute = /^\S+\t00000000\t/m.test(readFileSync('/proc/net/route', 'utf8'));
  t.equal(system.network !== null, hasRoute);
  if (routed) t.equal(system.network?.ipv4, routed.find(({ family }) => family === 'IPv4')?.address);
});

t.test('missing capabilities are reported as missing', async (t) => {
  t.same(third.gpu, [], 'no graphics processor without a display');
  const gpu = report.findings.find(({ subject }) => subject === 'gpu');
  t.match(gpu, { status: 'missing', source: 'DXGI and NVML', reason: /no device of/ });
  t.same(third.sensors, []);
  t.same(third.batteries, []);
  t.equal(third.failures, undefined, 'and nothing failed');
  t.equal(report.descriptorLimit, 'Infinity');
  t.equal(report.openDescriptors, 'undefined');
  t.match(report.connectionsFailure, /count connections/);
  t.equal(report.folder, 'C:\\ProgramData');
});
