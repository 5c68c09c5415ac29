/** The description of a machine: distributions, processors, memory modules and default routes; and this machine's own. */
import { readFileSync } from 'node:fs';
import os from 'node:os';
import t, { type Test } from 'tap';
import '../helpers/service/dead-buses.ts';
import type { SystemInfo } from '#src/host/host.js';
import { openNativeHost } from '#src/host/native.js';
import { makeMachine, type Tree } from '../helpers/machine/tree.ts';

const systemOf = (t: Test, tree: Tree): Promise<SystemInfo> =>
  makeMachine(t, { 'proc/stat': '', ...tree }).host.readSystem();

t.test('more concurrent callers than there are threads', async (t) => {
  const { host } = makeMachine(t, { 'proc/stat': '', 'etc/os-release': 'NAME=Vendor' });
  const systems = await Promise.all(Array.from({ length: 100 }, () => host.readSystem()));
  t.ok(systems.every(({ os: { name } }) => name === 'Vendor'));
  t.match((await host.readSystem()).os, { name: 'Vendor' }, 'and again after them');
});

t.test('os-release: quotes, escapes, missing keys, and the path of the file', async (t) => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['NAME="Debian GNU/Linux"\nVERSION="12 (bookworm)"\n', 'Debian GNU/Linux', '12 (bookworm)'],
    ['# a comment\nNAME=Fedora\nVERSION_ID=39\n', 'Fedora', '39'],
    ["NAME='Arch Linux'\nBUILD_ID=rolling\n", 'Arch Linux', 'rolling'],
    ['NAME="a \\"quoted\\" \\$name \\\\ \\`here\\` \\n"\n', 'a "quoted" $name \\ `here` \\n', ''],
    ["NAME='it\\s' trailing\nVERSION=1\\ 2\\'3\r\n", 'it\\s', "1 2'3"],
    ['VERSION_NAME=no\nXNAME=no\nNAME\n', 'Linux', ''],
    ['NAME="unclosed\nVERSION="', 'unclosed', ''],
    ['NAME="Gr\xc3\xbc\xc3\x9fe"', 'Grüße', ''],
  ];
  for (const [text, name, version] of cases) {
    const system = await systemOf(t, { 'etc/os-release': Buffer.from(text, 'latin1') });
    t.match(system.os, { name, version }, JSON.stringify(text));
  }
  t.match((await systemOf(t, { 'usr/lib/os-release': 'NAME=Vendor\n' })).os, { name: 'Vendor' });
  t.match((await systemOf(t, {})).os, { name: 'Linux', version: '' });
});

const processor = (index: number, fields: Readonly<Record<string, string>>) =>
  `${[['processor', index], ...Object.entries(fields)].map(([key, value]) => `${key}\t: ${value}`).join('\n')}\n\n`;

const nameOf = async (t: Test, fields: Readonly<Record<string, string>>, footer = '') => {
  const { cpu } = await systemOf(t, { 'proc/cpuinfo': processor(0, fields) + footer });
  return [cpu.manufacturer, cpu.brand];
};

t.test('the processor has a readable name', async (t) => {
  const x86 = (vendor: string, model: string) =>
    nameOf(t, { vendor_id: vendor, model: '158', 'model name': model });
  const intel = ['Intel', 'Intel Core i7-8550U'];
  t.strictSame(await x86('GenuineIntel', 'Intel(R) Core(TM) i7-8550U CPU @ 1.80GHz'), intel);
  const xeon = ['Intel', 'Intel Xeon E5-2680 v4'];
  t.strictSame(await x86('GenuineIntel', 'Intel(R) Xeon(R) CPU           E5-2680 v4 @ 2.40GHz'), xeon);
  const ryzen = ['AMD', 'AMD Ryzen 7 5800X 8-Core Processor'];
  t.strictSame(await x86('AuthenticAMD', 'AMD Ryzen 7 5800X 8-Core Processor             '), ryzen);
  const virtual = ['Intel', 'QEMU Virtual CPU version 2.5+'];
  t.strictSame(await x86('GenuineIntel', 'QEMU Virtual CPU version 2.5+'), virtual);
  t.strictSame(await x86('NewVendor', 'Chip'), ['NewVendor', 'Chip']);
});

t.test('ARM and others, which have other keys', async (t) => {
  const pi = { 'CPU implementer': '0x41', 'CPU architecture': '8', 'CPU part': '0xd08' };
  const board = 'Hardware\t: BCM2711\nRevision\t: c03114\nModel\t\t: Raspberry Pi 4 Model B Rev 1.4\n';
  t.strictSame(await nameOf(t, pi, board), ['ARM', 'Cortex-A72']);
  const pi32 = { 'model name': 'ARMv7 Processor rev 3 (v7l)', ...pi };
  t.strictSame(await nameOf(t, pi32), ['ARM', 'Cortex-A72'], 'not the model name, which says nothing');
  t.strictSame(await nameOf(t, { ...pi, 'CPU part': '0xfff' }, board), ['ARM', 'BCM2711'], 'an unknown part');
  const model = 'Model\t\t: Raspberry Pi 9\n';
  t.strictSame(await nameOf(t, { ...pi, 'CPU part': '0xfff' }, model), ['ARM', 'Raspberry Pi 9']);
  const big = processor(1, { 'CPU implementer': '0x41', 'CPU part': '0xd0b' });
  t.strictSame(await nameOf(t, { ...pi, 'CPU part': '0xd05' }, big), ['ARM', 'Cortex-A55 / Cortex-A76']);
  const efficient = processor(1, { 'CPU implementer': '0x61', 'CPU part': '0x023' });
  t.strictSame(await nameOf(t, { 'CPU implementer': '0x61', 'CPU part': '0x022' }, efficient), [
    'Apple',
    'M1',
  ]);
  const arm = (implementer: string, part: string) =>
    nameOf(t, { 'CPU implementer': implementer, 'CPU part': part });
  t.strictSame(await arm('0x51', '0x802'), ['Qualcomm', 'Kryo-3XX-Gold']);
  t.strictSame(await arm('0x51', '0xfff'), ['Qualcomm', '']);
  t.strictSame(await arm('0x70', '0x663'), ['Phytium', 'FTC663']);
  t.strictSame(await arm('0x48', '0xd01'), ['HiSilicon', 'Kunpeng-920']);
  t.strictSame(await arm('0x48', '0xd40'), ['HiSilicon', 'Cortex-A76'], "the part of ARM's Neoverse-V1");
  t.strictSame(await arm('0xc0', '0xac3'), ['Ampere', 'Ampere-1']);
  t.strictSame(await arm('0x50', '0x000'), ['Applied Micro', 'X-Gene']);
  t.strictSame(await nameOf(t, { 'cpu model': 'MIPS 1004Kc V2.15', BogoMIPS: '584.90' }), [
    '',
    'MIPS 1004Kc V2.15',
  ]);
  t.strictSame(await nameOf(t, { 'CPU Family': 'Loongson-64bit', 'Model Name': 'Loongson-3A6000-HV' }), [
    '',
    'Loongson-3A6000-HV',
  ]);
  t.strictSame(await nameOf(t, { cpu: 'POWER9, altivec supported', clock: '3800.000000MHz' }), [
    '',
    'POWER9, altivec supported',
  ]);
  t.strictSame(await nameOf(t, { uarch: 'sifive,u74-mc' }), ['', 'sifive,u74-mc']);
});

const CPU_FOLDER = 'sys/devices/system/cpu';

t.test('cores online and physical: by siblings, by core ids, by cpuinfo', async (t) => {
  const siblings = (index: number, list: string): Tree => ({
    [`${CPU_FOLDER}/cpu${index}/topology/thread_siblings_list`]: `${list}\n`,
  });
  const smt = { ...siblings(0, '0,2'), ...siblings(1, '1,3'), ...siblings(2, '0,2'), ...siblings(3, '1,3') };
  const online = { [`${CPU_FOLDER}/online`]: '0-3\n' };
  t.match((await systemOf(t, { ...online, ...smt })).cpu, { cores: 4, physicalCores: 2 });
  const half = { [`${CPU_FOLDER}/online`]: '0,2\n', ...smt };
  t.match((await systemOf(t, half)).cpu, { cores: 2, physicalCores: 1 }, 'two threads of one core');
  const ids = (index: number, package_: number, core: number): Tree => ({
    [`${CPU_FOLDER}/cpu${index}/topology/physical_package_id`]: `${package_}\n`,
    [`${CPU_FOLDER}/cpu${index}/topology/core_id`]: `${core}\n`,
  });
  const packages = { ...ids(0, 0, 0), ...ids(1, 1, 0), ...ids(2, 0, 0), ...ids(3, 1, 1) };
  t.match((await systemOf(t, { ...online, ...packages })).cpu, { cores: 4, physicalCores: 3 });
  const of = (index: number, core: string) => processor(index, { 'physical id': '0', 'core id': core });
  const cpuinfo = { 'proc/cpuinfo': of(0, '0') + of(1, '0') + of(2, '4') };
  t.match((await systemOf(t, cpuinfo)).cpu, { cores: 3, physicalCores: 2 });
  t.match((await systemOf(t, online)).cpu, { cores: 4, physicalCores: 4 }, 'nothing about cores');
  t.match((await systemOf(t, {})).cpu, { cores: 1, physicalCores: 1 }, 'nothing at all');
  const absurd = { [`${CPU_FOLDER}/online`]: '0-18446744073709551615\n' };
  t.match((await systemOf(t, absurd)).cpu, { cores: 1, physicalCores: 1 });
});

t.test(
  'the base speed: base_frequency, the brand, the constant clock of a machine without cpufreq',
  async (t) => {
    const brand = (name: string) => ({
      'proc/cpuinfo': processor(0, { 'model name': name, 'cpu MHz': '2445.428' }),
    });
    const branded = brand('Intel(R) Core(TM) i7-8550U CPU @ 1.80GHz');
    const base = { [`${CPU_FOLDER}/cpu0/cpufreq/base_frequency`]: '2000000\n' };
    const governed = { [`${CPU_FOLDER}/cpu0/cpufreq/scaling_cur_freq`]: '3400000\n' };
    const speedOf = async (tree: Tree) => (await systemOf(t, tree)).cpu.baseSpeedHz;
    t.equal(await speedOf({ ...branded, ...base }), 2e9);
    t.equal(await speedOf({ ...branded, ...governed }), 1.8e9);
    t.equal(await speedOf(brand('Intel(R) Pentium(R) III CPU @ 866MHz')), 8.66e8);
    t.equal(await speedOf(brand('AMD EPYC')), 2_445_428_000);
    t.equal(await speedOf({ ...brand('AMD EPYC'), ...governed }), null, 'the speed of the moment is no base');
    t.equal(await speedOf({}), null);
  },
);

/** An SMBIOS structure: header, formatted area of `length` bytes with `size` at 0x0C, strings. */
function structure(type: number, length: number, size: number, strings = 'BANK 0\0\0'): Buffer {
  const area = Buffer.alloc(length, 0);
  area.writeUInt8(type, 0);
  area.writeUInt8(length, 1);
  if (length >= 14) area.writeUInt16LE(size, 12);
  return Buffer.concat([area, Buffer.from(strings, 'latin1')]);
}

t.test('memory modules: the populated slots of the firmware table', async (t) => {
  const slotsOf = async (...parts: readonly Buffer[]) =>
    (await systemOf(t, { 'sys/firmware/dmi/tables/DMI': Buffer.concat(parts) })).memorySlots;
  const end = structure(127, 4, 0, '\0\0');
  const module = structure(17, 40, 16_384);
  const empty = structure(17, 40, 0);
  const large = structure(17, 92, 0x7fff, '\0\0');
  t.equal(await slotsOf(structure(0, 24, 5), module, empty, large, structure(19, 31, 7), end), 2);
  t.equal(await slotsOf(empty, end), 0);
  t.equal(await slotsOf(structure(0, 24, 5), end), null, 'no slots described');
  t.equal(await slotsOf(module, end, module), 1, 'what follows the end is none');
  t.equal(await slotsOf(module, structure(17, 40, 9).subarray(0, 20)), 1, 'a cut table');
  t.equal(await slotsOf(Buffer.from([17, 0, 0, 0, 0, 0])), null, 'a length that leads nowhere');
  t.equal((await systemOf(t, {})).memorySlots, null);
});

const ROUTES = 'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n';
const route = (name: string, destination: string, flags: string, metric: number, mask = destination) =>
  `${name}\t${destination}\t0102A8C0\t${flags}\t0\t0\t${metric}\t${mask}\t0\t0\t0\n`;
const ZERO = '0'.repeat(32);
const route6 = (destination: string, prefix: string, metric: string, flags: string, name: string) =>
  `${destination} ${prefix} ${ZERO} 00 ${ZERO} ${metric} 00000002 00000000 ${flags} ${name.padStart(8)}\n`;

t.test('the interface of the default route', async (t) => {
  const address = (name: string, mac: string) => ({ [`sys/class/net/${name}/address`]: `${mac}\n` });
  const addresses = `fe800000000000000000000000000abc 03 40 20 80    wlan0
20010db8000000000000000000000007 03 40 00 00    wlan0
20010db8000000000000000000000008 03 40 00 00    wlan0
20010db8000000000000000000000009 02 40 00 00     eth0
`;
  const rows = [
    route('docker0', '000011AC', '0001', 0, '0000FFFF'),
    route('eth0', '00000000', '0003', 600),
    route('wlan0', '00000000', '0003', 100),
    route('down0', '00000000', '0002', 1),
    route('reject', '00000000', '0203', 2),
  ];
  const tree = {
    'proc/net/route': ROUTES + rows.join(''),
    'proc/net/if_inet6': addresses,
    ...address('wlan0', 'a4:c3:f0:00:5e:01'),
  };
  const expected = { name: 'wlan0', mac: 'a4:c3:f0:00:5e:01', ipv4: null, ipv6: '2001:db8::7' };
  t.strictSame((await systemOf(t, tree)).network, expected);
  const only6 = [
    route6(ZERO, '00', 'ffffffff', '00200200', 'lo'),
    route6('fe800000000000000000000000000000', '40', '00000001', '00000001', 'eth1'),
    route6(ZERO, '00', '00000400', '00000003', 'eth0'),
    route6(ZERO, '00', '00000064', '00000003', 'eth9'),
  ];
  const network = (await systemOf(t, { 'proc/net/route': ROUTES, 'proc/net/ipv6_route': only6.join('') }))
    .network;
  t.strictSame(network, { name: 'eth9', mac: null, ipv4: null, ipv6: null });
  t.equal((await systemOf(t, { 'proc/net/route': ROUTES })).network, null);
});

t.test('names and sizes of a machine under other roots', async (t) => {
  const system = await systemOf(t, {
    'proc/sys/kernel/hostname': 'laptop\n',
    'proc/sys/kernel/osrelease': '6.1.0-18-amd64\n',
    'proc/meminfo': 'MemTotal:       16266576 kB\nMemFree: 1 kB\n',
  });
  t.equal(system.hostname, 'laptop');
  t.equal(system.os.build, '6.1.0-18-amd64');
  t.equal(system.memoryTotalBytes, 16_266_576 * 1024);
});

t.test('this machine, compared with the reports of other programs', async (t) => {
  const system = await openNativeHost().readSystem();
  t.equal(system.hostname, os.hostname());
  t.equal(system.os.build, os.release());
  t.equal(system.os.arch, process.arch);
  const release = readFileSync('/etc/os-release', 'utf8');
  t.equal(system.os.name, /^NAME="?([^"\n]*)/m.exec(release)?.[1]);
  t.equal(system.cpu.cores, os.cpus().length);
  t.ok(system.cpu.physicalCores >= 1 && system.cpu.physicalCores <= system.cpu.cores);
  t.equal(system.memoryTotalBytes, os.totalmem());
  const { network } = system;
  const fields = readFileSync('/proc/net/route', 'utf8')
    .split('\n')
    .map((line) => line.split('\t'));
  const name = fields.find((row) => row[1] === '00000000')?.[0];
  if (network === null || name === undefined) {
    t.equal(network?.name, name, 'neither has an IPv4 default route');
    return;
  }
  const reported = os.networkInterfaces()[name] ?? [];
  const find = (family: string) =>
    reported.find(
      (one) => one.family === family && !one.address.startsWith('fe80') && !one.address.startsWith('169.254'),
    );
  t.strictSame(network, {
    name,
    mac: reported[0]?.mac ?? null,
    ipv4: find('IPv4')?.address ?? null,
    ipv6: find('IPv6')?.address ?? null,
  });
});

t.test('the model: maker and product, no placeholders, a device tree', async (t) => {
  const modelOf = async (tree: Tree) => (await systemOf(t, tree)).model;
  const dmi = (sys_vendor: string, product_name: string) =>
    modelOf({
      'sys/class/dmi/id/sys_vendor': `${sys_vendor}\n`,
      'sys/class/dmi/id/product_name': `${product_name}\n`,
    });
  t.equal(await dmi('LENOVO', '20KH006HGE'), 'LENOVO 20KH006HGE');
  t.equal(await dmi('Framework', 'Framework Laptop 13'), 'Framework Laptop 13', 'the maker once');
  t.equal(await dmi('Default string', 'NUC'), 'NUC');
  t.equal(await dmi('Vendor', 'To Be Filled By O.E.M.'), null);
  t.equal(
    await modelOf({ 'proc/device-tree/model': 'Raspberry Pi 4 Model B Rev 1.4\0' }),
    'Raspberry Pi 4 Model B Rev 1.4',
  );
  t.equal(await modelOf({}), null);
});
