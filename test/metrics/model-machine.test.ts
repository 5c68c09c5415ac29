/** A machine with sensors and a battery, as files: node_exporter and we make the same families of them. */
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { PATIENCE_MS } from '../helpers/limits.ts';
import { makeMachine, type Tree } from '../helpers/machine/tree.ts';
import { startHere } from '../helpers/service/service.ts';
import { parseFamilies } from './families.ts';
import { startNodeExporter, whyNo } from './programs.ts';

const CORETEMP = 'sys/devices/platform/coretemp.0';
const AMDGPU = 'sys/devices/pci0000:00/0000:03:00.0';
const BATTERY = 'sys/devices/platform/PNP0C0A/power_supply/BAT0';

/** The files of a folder, each with a line. */
const filesIn = (folder: string, values: Readonly<Record<string, string>>): Tree =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [`${folder}/${name}`, `${value}\n`]));

/** What the kernel prints in `uevent`: the same properties as in the files. */
const BATTERY_VALUES = {
  status: 'Discharging',
  present: '1',
  voltage_now: '11400000',
  power_now: '7200000',
  energy_full_design: '57000000',
  energy_full: '50000000',
  energy_now: '25000000',
  capacity: '50',
};

const TREE: Tree = {
  'proc/stat': 'cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\nbtime 1700000000\n',
  'proc/meminfo': 'MemTotal: 1024 kB\nMemAvailable: 512 kB\n',
  ...filesIn(`${CORETEMP}/hwmon/hwmon0`, {
    name: 'coretemp',
    temp1_input: '45000',
    temp1_label: 'Package id 0',
    temp2_input: '44000',
    temp2_label: 'Core 0',
  }),
  [`${CORETEMP}/hwmon/hwmon0/device`]: { link: '../..' },
  'sys/class/hwmon/hwmon0': { link: `../../../${CORETEMP}/hwmon/hwmon0` },
  ...filesIn(`${AMDGPU}/hwmon/hwmon1`, {
    name: 'amdgpu',
    in0_input: '750',
    in0_label: 'vddgfx',
    fan1_input: '1200',
    power1_average: '31000000',
    temp1_input: '46000',
  }),
  [`${AMDGPU}/hwmon/hwmon1/device`]: { link: '../..' },
  'sys/class/hwmon/hwmon1': { link: `../../../${AMDGPU}/hwmon/hwmon1` },
  ...filesIn(BATTERY, {
    ...BATTERY_VALUES,
    type: 'Battery',
    uevent: [
      'NAME=BAT0',
      'TYPE=Battery',
      ...Object.entries(BATTERY_VALUES).map(([name, value]) => `${name.toUpperCase()}=${value}`),
    ]
      .map((line) => `POWER_SUPPLY_${line}`)
      .join('\n'),
  }),
  'sys/class/power_supply/BAT0': { link: `../../../${BATTERY}` },
  ...filesIn('sys/devices/platform/ACPI0003/power_supply/AC', {
    type: 'Mains',
    online: '1',
    uevent: 'POWER_SUPPLY_NAME=AC\nPOWER_SUPPLY_TYPE=Mains\nPOWER_SUPPLY_ONLINE=1',
  }),
  'sys/class/power_supply/AC': { link: '../../devices/platform/ACPI0003/power_supply/AC' },
  'proc/diskstats': ' 259 0 nvme0n1 1 2 3 4 5 6 7 8 9 10 11\n   8 0 sda 1 2 3 4 5 6 7 8 9 10 11\n',
  'run/udev/data/b259:0': [
    'S:disk/by-id/nvme-ACME_Fast_1TB',
    'E:ID_MODEL=ACME_Fast_1TB',
    'E:ID_MODEL_ENC=ACME\\x20Fast',
    'E:ID_PATH=pci-0000:01:00.0-nvme-1',
    'E:ID_REVISION=1.0',
    'E:ID_SERIAL_SHORT=SECRET-SERIAL',
    'E:ID_WWN=eui.0001',
  ].join('\n'),
  ...filesIn('sys/devices/system/clocksource/clocksource0', {
    available_clocksource: 'tsc hpet acpi_pm ',
    current_clocksource: 'hpet',
  }),
};

/** docs/metrics.md names them. */
const MISSING = /^node_power_supply_(?:info|present|cyclecount)$/;
const COMPARED = /^node_(?:hwmon_|power_supply_|disk_info|time_clocksource_)/;
/** Not for everybody who may read loads. */
const SECRET = /(serial|wwn)=[^,]*/g;

t.test(
  '[3.metrics-devices] sensors, power supplies, drives and clock sources have the names, labels and values of node_exporter',
  { skip: whyNo('prometheus-node-exporter') },
  async (t) => {
    const machine = makeMachine(t, TREE);
    const folder = (name: string) =>
      `--path.${name}fs=${path.join(machine.root, name === 'root' ? '' : name)}`;
    const udev = `--path.udev.data=${path.join(machine.root, 'run/udev/data')}`;
    const url = await startNodeExporter(t, [folder('proc'), folder('sys'), folder('root'), udev]);
    const theirs = parseFamilies(await (await fetch(url)).text());
    const service = await startHere(machine.host);
    t.teardown(() => service.stop());
    const scrape = async () => parseFamilies(await (await fetch(`${service.baseUrl}/metrics`)).text());
    // The chips are found by the first question of a prober, and read by the next one.
    let ours = await scrape();
    const deadline = performance.now() + PATIENCE_MS;
    while ((ours.get('node_hwmon_temp_celsius')?.samples.size ?? 0) < 3 && performance.now() < deadline) {
      await sleep(200);
      ours = await scrape();
    }
    const names = [...theirs.keys()].filter((name) => COMPARED.test(name) && !MISSING.test(name));
    t.ok(names.length >= 15, names.join(' '));
    for (const name of names) {
      const [own, other] = [ours.get(name), theirs.get(name)];
      t.strictSame([own?.type, own?.help], [other?.type, other?.help], name);
      const shown = [...(other?.samples ?? [])].map(([key, value]) => [key.replaceAll(SECRET, '$1='), value]);
      t.strictSame([...(own?.samples ?? [])].sort(), shown.sort(), name);
    }
    for (const name of ours.keys()) if (COMPARED.test(name)) t.ok(theirs.has(name), `${name} is theirs`);
  },
);
