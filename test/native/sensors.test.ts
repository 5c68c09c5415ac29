/** Sensors of hwmon: labels, units, chips that fail, sleep, come and go. */
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { SensorCounters } from '#src/host/details.js';
import { PATIENCE_MS } from '../helpers/limits.ts';
import { FOLDER, type Machine, makeMachine, readUntil, type Tree } from '../helpers/machine/tree.ts';
import { chip } from './chip-tree.ts';

const device = (number: number, target: string): Tree => ({
  [`sys/class/hwmon/hwmon${number}/device`]: { link: target },
});

const isKnown = ({ value }: SensorCounters) => value !== null;

/** On a busy machine a chip that has answered may be late the next time. */
const isLate = ({ failure }: SensorCounters) => failure === 'no answer';

/** Each chip is asked separately: until the last one has answered, some are not known yet. */
const isSettled = (sensors: readonly SensorCounters[]) => sensors.length > 0 && sensors.every(isKnown);

async function readSensors(
  machine: Machine,
  isAnswered: (sensors: readonly SensorCounters[]) => boolean = isSettled,
): Promise<readonly SensorCounters[]> {
  const isReady = (sensors: readonly SensorCounters[]) => isAnswered(sensors) && !sensors.some(isLate);
  const counters = await readUntil(machine.host, 0, true, ({ sensors }) => isReady(sensors ?? []));
  return counters.sensors ?? [];
}

const textOf = ({ label, value, kind }: SensorCounters) => `${label} = ${value} ${kind}`;

async function sensorsOf(t: Test, tree: Tree): Promise<readonly string[]> {
  return (await readSensors(makeMachine(t, tree))).map(textOf);
}

t.test('[3.sensors] every temperature, fan, voltage and power with its label, in its unit', async (t) => {
  const tree = {
    ...chip(10, 'corsairpsu', {
      power1_label: 'power total',
      power1_input: '176000000',
      in0_input: '230000',
    }),
    ...chip(2, 'nct6798', {
      temp2_input: '41500',
      temp2_label: 'CPUTIN',
      temp10_input: '38000',
      fan1_input: '1205',
      fan2_input: '0',
      in0_input: '1008',
      in0_label: 'Vcore',
      in5_input: '-12096',
      fan1_min: '300',
      pwm1: '128',
      temp2_max: '80000',
      curr1_input: '1000',
      intrusion0_alarm: '0',
      power: FOLDER,
    }),
  };
  t.strictSame(await sensorsOf(t, tree), [
    'nct6798 CPUTIN = 41.5 temperature',
    'nct6798 temp10 = 38 temperature',
    'nct6798 fan1 = 1205 fan',
    'nct6798 fan2 = 0 fan',
    'nct6798 Vcore = 1.008 voltage',
    'nct6798 in5 = -12.096 voltage',
    'corsairpsu in0 = 230 voltage',
    'corsairpsu power total = 176 power',
  ]);
});

t.test(
  '[3.zone-degrees] the chip of a thermal zone may have whole degrees; a probe in ice water has thousandths',
  async (t) => {
    const tree = {
      ...chip(0, 'cpu_thermal', { temp0_input: '45', temp1_input: '46000' }),
      ...device(0, '../../../class/thermal/thermal_zone0'),
      'sys/class/thermal/thermal_zone0/type': 'cpu-thermal\n',
      ...chip(1, 'ds18b20', { temp1_input: '62' }),
      ...device(1, '../../../w1'),
      'sys/w1/uevent': '',
    };
    t.strictSame(await sensorsOf(t, tree), [
      'cpu_thermal temp0 = 45 temperature',
      'cpu_thermal temp1 = 46 temperature',
      'ds18b20 temp1 = 0.062 temperature',
    ]);
  },
);

t.test('a power is its average where the chip makes one', async (t) => {
  const tree = {
    ...chip(0, 'amdgpu', { power1_label: 'PPT', power1_average: '31000000', power1_input: '99000000' }),
    ...chip(1, 'ina226', { power1_input: '2500000' }),
  };
  t.strictSame(await sensorsOf(t, tree), ['amdgpu PPT = 31 power', 'ina226 power1 = 2.5 power']);
});

t.test(
  'chips of one name are distinguished by their device, labels of one chip by their input',
  async (t) => {
    const tree = {
      ...chip(0, 'coretemp', { temp2_label: 'Core 0', temp2_input: '50000' }),
      ...device(0, '../../../coretemp.0'),
      ...chip(1, 'coretemp', { temp2_label: 'Core 0', temp2_input: '60000' }),
      ...device(1, '../../../coretemp.1'),
      ...chip(2, 'spd5118', { temp1_input: '35000' }),
      ...device(2, '../../../0-0050'),
      ...chip(3, 'spd5118', { temp1_input: '36000' }),
      ...device(3, '../../../0-0052'),
      ...chip(4, 'acpitz', { temp1_input: '27800' }),
      ...chip(5, 'acpitz', { temp1_input: '29800' }),
      ...chip(6, 'nct6775', {
        temp7_label: 'PECI Agent 0',
        temp7_input: '40000',
        temp13_label: 'PECI Agent 0',
        temp13_input: '41000',
      }),
    };
    t.strictSame(await sensorsOf(t, tree), [
      'coretemp.0 Core 0 = 50 temperature',
      'coretemp.1 Core 0 = 60 temperature',
      'spd5118 0-0050 temp1 = 35 temperature',
      'spd5118 0-0052 temp1 = 36 temperature',
      'acpitz temp1 = 27.8 temperature',
      'acpitz 2 temp1 = 29.8 temperature',
      'nct6775 PECI Agent 0 temp7 = 40 temperature',
      'nct6775 PECI Agent 0 temp13 = 41 temperature',
    ]);
  },
);

t.test('drives are called by their model, two of one model by their device as well', async (t) => {
  const disk = (number: number, block: string): Tree => ({
    ...chip(number, 'drivetemp', { temp1_input: `${31 + number}000` }),
    ...device(number, `../../../ata${number}`),
    [`sys/ata${number}/model`]: 'WDC WD40EFRX-68N\n',
    [`sys/ata${number}/block/${block}/size`]: '7814037168\n',
  });
  const tree = {
    ...disk(1, 'sda'),
    ...disk(2, 'sdb'),
    // Since 5.14 the parent is the controller, before it is the PCI device.
    ...chip(3, 'nvme', { temp1_label: 'Composite', temp1_input: '38850' }),
    ...device(3, '../../../nvme0'),
    'sys/nvme0/model': 'Samsung SSD 980 PRO 1TB                 \n',
    ...chip(4, 'nvme', { temp1_label: 'Composite', temp1_input: '41850' }),
    ...device(4, '../../../0000:02:00.0'),
    'sys/0000:02:00.0/nvme/nvme1/model': 'CT1000P3PSSD8\n',
    ...chip(5, 'nvme', { temp1_input: '44850' }),
  };
  t.strictSame(await sensorsOf(t, tree), [
    'WDC WD40EFRX-68N sda temp1 = 32 temperature',
    'WDC WD40EFRX-68N sdb temp1 = 33 temperature',
    'Samsung SSD 980 PRO 1TB Composite = 38.85 temperature',
    'CT1000P3PSSD8 Composite = 41.85 temperature',
    'nvme temp1 = 44.85 temperature',
  ]);
});

t.test('[3.sensors-drives] a drive is asked every half minute, not with every sample', async (t) => {
  const machine = makeMachine(t, {
    ...chip(0, 'drivetemp', { temp1_input: '31000' }),
    ...chip(1, 'k10temp', { temp1_input: '40000' }),
    ...chip(2, 'nvme', { temp1_input: '50000' }),
  });
  await readSensors(machine, (sensors) => sensors.length === 3 && sensors.every(isKnown));
  const files = [0, 1, 2].map((number) => [`sys/class/hwmon/hwmon${number}/temp1_input`, '66000\n']);
  machine.write(Object.fromEntries(files));
  const later = await readSensors(machine, (sensors) => sensors[1]?.value === 66);
  t.strictSame(
    later.map(({ value }) => value),
    [31, 66, 50],
  );
});

t.test(
  '[3.sensors-failing] a sensor that fails is null, with the reason, and affects no other',
  async (t) => {
    const tree = {
      // Reading a folder fails as a sensor with EIO does.
      ...chip(0, 'nct6775', { temp1_input: FOLDER, fan1_input: '900', in0_input: '', in1_input: 'x' }),
      ...chip(1, 'iwlwifi_1', { temp1_input: FOLDER }),
      ...chip(2, 'lm90', { temp1_input: '50000', temp2_input: '127000', temp2_fault: '1' }),
      ...chip(3, 'empty', {}),
    };
    const sensors = await readSensors(makeMachine(t, tree), (all) => all.filter(isKnown).length === 2);
    t.strictSame(sensors.map(textOf), [
      'nct6775 temp1 = null temperature',
      'nct6775 fan1 = 900 fan',
      'nct6775 in0 = null voltage',
      'nct6775 in1 = null voltage',
      'iwlwifi_1 temp1 = null temperature',
      'lm90 temp1 = 50 temperature',
      'lm90 temp2 = null temperature',
    ]);
    t.match(sensors[0]?.failure, /read .*temp1_input: Is a directory/);
    t.equal(sensors[1]?.failure, null);
    t.match(sensors[6]?.failure, 'faulty');
  },
);

t.test('a value that no part of a computer can have is unknown; an unusual one is not', async (t) => {
  const absurd = { temp1_input: '-128000', temp2_input: '0', temp3_input: '255000', fan1_input: '65535' };
  const more = {
    fan2_input: '-1',
    in0_input: '1000001',
    power1_input: '-5',
    power2_input: '99999999999999999',
  };
  const fine = { temp4_input: '-12500', fan3_input: '38000', in1_input: '0', power3_input: '0' };
  const sensors = await readSensors(
    makeMachine(t, chip(0, 'odd', { ...absurd, ...more, ...fine })),
    (all) => all.filter(isKnown).length === 4,
  );
  t.strictSame(sensors.filter(isKnown).map(textOf), [
    'odd temp4 = -12.5 temperature',
    'odd fan3 = 38000 fan',
    'odd in1 = 0 voltage',
    'odd power3 = 0 power',
  ]);
  t.equal(sensors.length, 12);
  t.ok(sensors.every(({ failure }) => failure === null));
});

t.test(
  '[3.sensors-asleep] a device in runtime suspend is not asked, and is again when it wakes',
  async (t) => {
    const status = 'sys/gpu/power/runtime_status';
    const machine = makeMachine(t, {
      ...chip(0, 'amdgpu', { temp1_label: 'edge', temp1_input: '41000' }),
      ...device(0, '../../../gpu'),
      [status]: 'suspended\n',
      ...chip(1, 'k10temp', { temp1_input: '40000' }),
      ...device(1, '../../../cpu'),
      'sys/cpu/power/runtime_status': 'unsupported\n',
    });
    const hasCpu = (sensors: readonly SensorCounters[]) => sensors[1]?.value === 40;
    const asleep = await readSensors(machine, hasCpu);
    t.strictSame(asleep.map(textOf), ['amdgpu edge = null temperature', 'k10temp temp1 = 40 temperature']);
    t.equal(asleep[0]?.failure, null, 'to sleep is no failure');
    machine.write({ [status]: 'active\n' });
    t.equal((await readSensors(machine, (sensors) => sensors[0]?.value === 41))[0]?.value, 41);
    machine.write({ [status]: 'suspending\n' });
    t.equal((await readSensors(machine, (sensors) => sensors[0]?.value === null))[0]?.value, null);
  },
);

t.test('chips come and go: seen within seconds, without a failure left behind', async (t) => {
  const machine = makeMachine(t, chip(0, 'k10temp', { temp1_input: '40000' }));
  await readSensors(machine);
  machine.write(chip(1, 'usbtemp', { temp1_input: '21000' }));
  const readLater = async (isThere: (sensors: readonly SensorCounters[]) => boolean) => {
    const end = performance.now() + PATIENCE_MS;
    let sensors = await readSensors(machine, isThere);
    while (!isThere(sensors) && performance.now() < end) sensors = await readSensors(machine, isThere);
    return sensors.map(textOf);
  };
  t.strictSame(await readLater((sensors) => sensors[1]?.value === 21), [
    'k10temp temp1 = 40 temperature',
    'usbtemp temp1 = 21 temperature',
  ]);
  machine.remove('sys/class/hwmon/hwmon1');
  t.strictSame(await readLater((sensors) => sensors.length === 1), ['k10temp temp1 = 40 temperature']);
});

t.test('[3.sensors-detail-only] no sensor is read without detail', async (t) => {
  const machine = makeMachine(t, {
    'proc/meminfo': 'MemTotal: 5 kB\n',
    ...chip(0, 'a', { temp1_input: '1000' }),
  });
  for (let round = 0; round < 3; round++) {
    const counters = machine.host.readCounters(31, false, 0);
    t.notOk('sensors' in counters || 'batteries' in counters);
    await sleep(20);
  }
  // If the chips had been searched for, they would be known by now.
  t.strictSame(machine.host.readCounters(0, true, 0).sensors, []);
});

t.test('many sensors: all are read, though not all files can be kept open', async (t) => {
  const cores = Object.fromEntries(
    Array.from({ length: 130 }, (_, core) => [`temp${core + 2}_input`, `${30_000 + core * 100}`]),
  );
  const machine = makeMachine(t, {
    ...chip(0, 'coretemp', cores),
    ...chip(1, 'nvme', { temp1_input: '40000' }),
  });
  const sensors = await readSensors(machine, (all) => all.length === 131 && all.every(isKnown));
  t.equal(sensors.length, 131);
  t.strictSame(sensors.slice(128).map(textOf), [
    'coretemp temp130 = 42.8 temperature',
    'coretemp temp131 = 42.9 temperature',
    'nvme temp1 = 40 temperature',
  ]);
});

t.test('names that are not UTF-8, old drivers with their files one level down', async (t) => {
  const tree = {
    'sys/class/hwmon/hwmon0/device/name': 'lm85\n',
    'sys/class/hwmon/hwmon0/device/temp1_input': '33000\n',
    'sys/class/hwmon/hwmon1/name': Buffer.from([0x61, 0xff, 0x0a]),
    'sys/class/hwmon/hwmon1/temp1_input': '34000\n',
  };
  t.strictSame(await sensorsOf(t, tree), ['lm85 temp1 = 33 temperature', 'a\ufffd temp1 = 34 temperature']);
});
