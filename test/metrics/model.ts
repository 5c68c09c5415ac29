/** A machine with sensors, a battery, an adapter and drives, as files. */
import type { Tree } from '../helpers/machine/tree.ts';

const CORETEMP = 'sys/devices/platform/coretemp.0';
const AMDGPU = 'sys/devices/pci0000:00/0000:03:00.0';
const BATTERY = 'sys/devices/platform/PNP0C0A/power_supply/BAT0';

/** The files of a folder, each with a line. */
const filesIn = (folder: string, values: Readonly<Record<string, string>>): Tree =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [`${folder}/${name}`, `${value}\n`]));

/** The kernel's lines in `uevent`: the same properties as in the files. */
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

export const MODEL: Tree = {
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
