/** Batteries and the energy of the processor's packages, as the kernel's files report them. */
import { renameSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import type { BatteryCounters } from '#src/host/details.js';
import { type EnergyCounters, SECTION_BITS } from '#src/host/host.js';
import { deriveExtras } from '#src/stats/details.js';
import { FOLDER, type Machine, makeMachine, readUntil, type Tree } from '../helpers/machine/tree.ts';
import { at } from '../stats/literals.ts';
import { STAT } from './chip-tree.ts';

function supply(name: string, properties: Readonly<Record<string, string | number>>, type = 'Battery'): Tree {
  const folder = `sys/class/power_supply/${name}`;
  const lines = Object.entries(properties).map(([key, value]) => `POWER_SUPPLY_${key}=${value}\n`);
  const scope = properties['SCOPE'];
  return {
    [`${folder}/type`]: `${type}\n`,
    [`${folder}/uevent`]: `POWER_SUPPLY_NAME=${name}\nPOWER_SUPPLY_TYPE=${type}\n${lines.join('')}`,
    ...(scope !== undefined && { [`${folder}/scope`]: `${scope}\n` }),
  };
}

async function readBatteries(
  machine: Machine,
  isAnswered = (batteries: readonly BatteryCounters[]) => batteries.length > 0,
): Promise<readonly BatteryCounters[]> {
  const counters = await readUntil(machine.host, 0, true, ({ batteries }) => isAnswered(batteries ?? []));
  return counters.batteries ?? [];
}

/** The known values of the first battery. */
async function knownOf(t: Test, properties: Readonly<Record<string, string | number>>) {
  const [battery] = await readBatteries(makeMachine(t, supply('BAT0', properties)));
  return Object.fromEntries(Object.entries(battery ?? {}).filter(([, value]) => value !== null));
}

t.test('[3.batteries] batteries that report energy, and batteries that report charge', async (t) => {
  const energy = {
    STATUS: 'Discharging',
    PRESENT: 1,
    CYCLE_COUNT: 213,
    VOLTAGE_NOW: 11_902_000,
    POWER_NOW: 8_455_000,
    ENERGY_FULL_DESIGN: 57_020_000,
    ENERGY_FULL: 50_350_000,
    ENERGY_NOW: 40_280_000,
    CAPACITY: 80,
    CAPACITY_LEVEL: 'Normal',
    MODEL_NAME: '5B10W13930',
  };
  t.strictSame(await knownOf(t, energy), {
    name: 'BAT0',
    state: 'discharging',
    percent: 80,
    energyWh: 40.28,
    energyFullWh: 50.35,
    energyDesignWh: 57.02,
    voltageVolts: 11.902,
    powerWatts: 8.455,
  });
  const charge = {
    STATUS: 'Not charging',
    VOLTAGE_NOW: 8_700_000,
    CURRENT_NOW: -1_250_000,
    CHARGE_FULL_DESIGN: 6_000_000,
    CHARGE_FULL: 5_400_000,
    CHARGE_NOW: 0,
    TIME_TO_EMPTY_NOW: 3600,
    TIME_TO_FULL_NOW: 0,
  };
  t.strictSame(await knownOf(t, charge), {
    name: 'BAT0',
    state: 'not_charging',
    chargeAh: 0,
    chargeFullAh: 5.4,
    chargeDesignAh: 6,
    voltageVolts: 8.7,
    currentAmps: 1.25,
    secondsToEmpty: 3600,
  });
});

t.test("[3.battery-time] the kernel's own time, of the moment rather than the average", async (t) => {
  // Asahi Linux, whose energy and charge are above full.
  const asahi = {
    STATUS: 'Discharging',
    PRESENT: 1,
    CAPACITY: 100,
    TIME_TO_EMPTY_NOW: 42_000,
    ENERGY_FULL_DESIGN: 69_600_000,
    ENERGY_FULL: 59_565_000,
    ENERGY_NOW: 388_363_800,
    CHARGE_FULL: 5_225_000,
    CHARGE_NOW: 34_067_000,
    VOLTAGE_NOW: 12_612_000,
    POWER_NOW: 5_100_000,
    CURRENT_NOW: -405_000,
  };
  const [battery] = await readBatteries(makeMachine(t, supply('macsmc-battery', asahi)));
  t.match(battery, { secondsToEmpty: 42_000, energyWh: 388.3638, currentAmps: 0.405 });
  const facts = { interval_seconds: 2, host: 'box' };
  const extras = deriveExtras(facts, at(1, { batteries: battery === undefined ? [] : [battery] }));
  t.match(extras.batteries, [
    { name: 'macsmc-battery', percent: 100, power_watts: 5.1, seconds_left: 42_000, health_percent: 85.6 },
  ]);
  const average = { STATUS: 'Charging', TIME_TO_EMPTY_AVG: 600, TIME_TO_FULL_AVG: 900 };
  t.match(await knownOf(t, average), { secondsToEmpty: 600, secondsToFull: 900 });
  for (const both of [
    { TIME_TO_FULL_AVG: 900, TIME_TO_FULL_NOW: 800 },
    { TIME_TO_FULL_NOW: 800, TIME_TO_FULL_AVG: 900 },
  ])
    t.equal((await knownOf(t, both))['secondsToFull'], 800);
});

t.test('states in lower case; an unknown one is null', async (t) => {
  const states = { Charging: 'charging', Full: 'full', Unknown: 'unknown', 'Not charging': 'not_charging' };
  for (const [status, state] of Object.entries(states))
    t.equal((await knownOf(t, { STATUS: status }))['state'], state);
  t.notOk('state' in (await knownOf(t, { STATUS: 'Exploding' })));
});

t.test('an impossible value is unknown', async (t) => {
  const properties = {
    CAPACITY: -1,
    ENERGY_NOW: -5,
    ENERGY_FULL: 0,
    ENERGY_FULL_DESIGN: '9999999999999999999999',
    VOLTAGE_NOW: 0,
    POWER_NOW: 'x',
    CHARGE_FULL: '',
    TIME_TO_EMPTY_NOW: -60,
  };
  t.strictSame(await knownOf(t, properties), { name: 'BAT0' });
  t.equal((await knownOf(t, { CAPACITY: 104 }))['percent'], 100);
  t.equal((await knownOf(t, { CAPACITY: 255 }))['percent'], undefined, 'all ones');
});

t.test('[3.batteries-failing] a gauge whose registers are all ones has no values', async (t) => {
  const silent = { name: 'BAT0', failure: 'the registers of its gauge are all ones' };
  const good = { VOLTAGE_NOW: 11_902_000, CHARGE_FULL: 5_400_000 };
  for (const [properties, expected] of [
    // sbs-battery: it limits the share to 100 %, and takes "full" from a bit; -1 mA is all ones with a sign.
    [
      {
        STATUS: 'Full',
        CAPACITY: 100,
        VOLTAGE_NOW: 65_535_000,
        CURRENT_NOW: -1000,
        CHARGE_FULL_DESIGN: 5_000_000,
      },
      silent,
    ],
    [{ STATUS: 'Full', CAPACITY: 100, ENERGY_NOW: 655_350_000, ENERGY_FULL: 655_350_000 }, silent],
    [{ CAPACITY: 65_535, CHARGE_NOW: 65_535_000, POWER_NOW: 1_000_000 }, silent],
    [
      { ...good, CHARGE_NOW: 65_535_000 },
      { name: 'BAT0', voltageVolts: 11.902, chargeFullAh: 5.4 },
    ],
    [
      { ...good, CURRENT_NOW: 65_535_000 },
      { name: 'BAT0', voltageVolts: 11.902, chargeFullAh: 5.4 },
    ],
    [
      { ...good, POWER_NOW: 4_294_967_295 },
      { name: 'BAT0', voltageVolts: 11.902, chargeFullAh: 5.4 },
    ],
    [
      { CAPACITY: 50, TIME_TO_EMPTY_NOW: 65_535 },
      { name: 'BAT0', percent: 50 },
    ],
  ] as const)
    t.strictSame(await knownOf(t, properties), expected, JSON.stringify(properties));
});

t.test("only the machine's own batteries: no charger, no mouse, no empty bay", async (t) => {
  const tree = {
    ...supply('AC', { ONLINE: 1 }, 'Mains'),
    ...supply('ucsi-source-psy-USBC000:001', { ONLINE: 0 }, 'USB'),
    ...supply('hidpp_battery_0', { SCOPE: 'Device', CAPACITY: 55, STATUS: 'Discharging' }),
    ...supply('BAT2', { PRESENT: 0 }),
    ...supply('BAT1', { SCOPE: 'System', CAPACITY: 30 }),
    ...supply('BAT0', { CAPACITY: 20 }),
  };
  const batteries = await readBatteries(makeMachine(t, tree));
  t.strictSame(
    batteries.map(({ name, percent }) => [name, percent]),
    [
      ['BAT0', 20],
      ['BAT1', 30],
    ],
  );
});

t.test('[3.batteries-failing] a battery that fails is there without a value, with the reason', async (t) => {
  const machine = makeMachine(t, {
    ...supply('BAT0', { CAPACITY: 20 }),
    'sys/class/power_supply/BAT1/type': 'Battery\n',
    'sys/class/power_supply/BAT1/uevent': FOLDER,
  });
  const [first, second] = await readBatteries(machine);
  t.equal(first?.percent, 20);
  t.strictSame([second?.name, second?.percent, second?.state], ['BAT1', null, null]);
  t.match(second?.failure, /read .*BAT1\/uevent: Is a directory/);
  machine.remove('sys/class/power_supply/BAT1/uevent');
  machine.write(supply('BAT1', { CAPACITY: 40 }));
  const [, back] = await readBatteries(machine, ([, other]) => other?.percent === 40);
  t.strictSame([back?.percent, back?.failure], [40, null]);
});

t.test(
  'a battery whose scope cannot be read does not count as one of the machine, and is asked again',
  async (t) => {
    const scope = 'sys/class/power_supply/BAT1/scope';
    const machine = makeMachine(t, {
      ...supply('BAT0', { CAPACITY: 20 }),
      ...supply('BAT1', { CAPACITY: 40 }),
      [scope]: { link: '.' },
    });
    const names = async (count: number) =>
      (await readBatteries(machine, (all) => all.length === count)).map(({ name }) => name);
    t.strictSame(await names(1), ['BAT0']);
    machine.write({ new: 'System\n' });
    renameSync(path.join(machine.root, 'new'), path.join(machine.root, scope));
    // Supplies are listed every five seconds; `names` waits for two.
    for (let i = 0; i < 5 && (await names(2)).length < 2; i++);
    t.strictSame(await names(2), ['BAT0', 'BAT1']);
  },
);

function zone(folder: string, name: string, energy: string | typeof FOLDER, range = '262143328850'): Tree {
  const path = `sys/class/powercap/${folder}`;
  return {
    [`${path}/name`]: `${name}\n`,
    [`${path}/max_energy_range_uj`]: `${range}\n`,
    [`${path}/energy_uj`]: typeof energy === 'string' ? `${energy}\n` : energy,
  };
}

async function energyOf(t: Test, tree: Tree): Promise<EnergyCounters | null | undefined> {
  const machine = makeMachine(t, { ...STAT, ...tree });
  return (await readUntil(machine.host, SECTION_BITS.cpu, true, ({ cpu }) => cpu?.energy != null)).cpu
    ?.energy;
}

t.test('[3.energy] the packages count: not their parts, not the platform, none twice', async (t) => {
  const before = process.hrtime.bigint();
  const energy = await energyOf(t, {
    ...zone('intel-rapl:0', 'package-0', '1000'),
    ...zone('intel-rapl:0:0', 'core', '700'),
    ...zone('intel-rapl:1', 'package-1', '262143328000'),
    ...zone('intel-rapl:2', 'psys', '9000'),
    ...zone('intel-rapl-mmio:0', 'package-0', '1001'),
    'sys/class/powercap/intel-rapl/enabled': '1\n',
    ...zone('intel-rapl:3', 'package-3', '5', '0'),
  });
  t.strictSame(energy?.zones, [
    { name: 'package-0', microjoules: 1000, rangeMicrojoules: 262143328850 },
    { name: 'package-1', microjoules: 262143328000, rangeMicrojoules: 262143328850 },
  ]);
  t.equal(energy?.failure, null);
  const takenAtNs = BigInt(energy?.takenAtNs ?? 0);
  t.ok(takenAtNs >= before && takenAtNs <= process.hrtime.bigint(), "a moment of this test's");
});

t.test('[3.energy-unreadable] a counter that only root may read: why; no powercap: nothing', async (t) => {
  const closed = await energyOf(t, zone('intel-rapl:0', 'package-0', FOLDER));
  t.strictSame(closed?.zones, []);
  t.match(closed?.failure, /read .*intel-rapl:0\/energy_uj: Is a directory/);
  const none = await energyOf(t, {});
  t.strictSame([none?.zones, none?.failure], [[], null]);
});
