/** Sensors of several chips of one device: each has its own series and its own id, whatever the kernel numbers them. */
import t, { type Test } from 'tap';
import { thingEntities } from '#src/exporters/mqtt/discovery/things.js';
import { deviceFamilies } from '#src/exporters/prometheus/devices.js';
import { writeFamily } from '#src/exporters/prometheus/exposition.js';
import type { SensorCounters } from '#src/host/details.js';
import { SECTION_BITS } from '#src/host/host.js';
import { deriveExtras } from '#src/stats/details.js';
import { payloadOf, sampleOf } from '../exporters/mqtt/machines.ts';
import { AMD_CARD, pci } from '../helpers/machine/gpu-tree.ts';
import { makeMachine, readUntil, type Tree } from '../helpers/machine/tree.ts';
import { parseFamilies } from '../metrics/families.ts';

/** A chip: its name, its device below sys/devices, its files. */
type Chip = readonly [name: string, device: string, files: Readonly<Record<string, string>>];

/** The chips with these numbers. */
const treeOf = (chips: readonly Chip[], numbers: readonly number[]): Tree =>
  Object.fromEntries(
    chips.flatMap(([name, device, files], at) => {
      const folder = `sys/class/hwmon/hwmon${numbers[at]}`;
      return [
        [`${folder}/name`, `${name}\n`],
        ...Object.entries(files).map(([file, text]) => [`${folder}/${file}`, `${text}\n`]),
        ...(device === ''
          ? []
          : [
              [`sys/devices/${device}/uevent`, ''],
              [`${folder}/device`, { link: `../../../devices/${device}` }],
            ]),
      ];
    }),
  );

async function readAll(t: Test, chips: readonly Chip[], numbers: readonly number[]) {
  const machine = makeMachine(t, treeOf(chips, numbers));
  const isWhole = (sensors: readonly SensorCounters[]) =>
    sensors.length > 0 && sensors.every(({ value }) => value !== null);
  return readUntil(machine.host, 0, true, ({ sensors }) => isWhole(sensors ?? []));
}

/** All that names a sensor, with its value: the series, the entities, the labels. */
async function namesOf(t: Test, chips: readonly Chip[], numbers: readonly number[]) {
  const counters = await readAll(t, chips, numbers);
  const families = parseFamilies(deviceFamilies(counters).map(writeFamily).join(''));
  const series = [...families]
    .filter(([name]) => /^node_hwmon_(?:temp|fan|in|power)_/.test(name))
    .flatMap(([name, { samples }]) => [...samples].map(([labels, value]) => `${name}{${labels}} ${value}`));
  const names = [...(families.get('node_hwmon_chip_names')?.samples.keys() ?? [])];
  const { sensors } = deriveExtras({ interval_seconds: 2, host: 'box' }, counters);
  const sample = sampleOf({ ...payloadOf('laptop'), sensors }, { sensors: counters.sensors ?? [] });
  const entities = thingEntities(sample)
    .filter(({ id }) => id.startsWith('sensor_'))
    .map(({ id, value }) => `${id} ${value}`);
  return {
    series: series.sort(),
    names: names.sort(),
    entities: entities.sort(),
    labels: sensors.map(({ label, value }) => `${label} ${value}`).sort(),
  };
}

/** The names are the same for every order of the numbers, and no sensor is missing. */
async function checkOrders(t: Test, chips: readonly Chip[], orders: readonly (readonly number[])[]) {
  const [first, ...others] = orders;
  const expected = await namesOf(t, chips, first ?? []);
  for (const numbers of others) t.strictSame(await namesOf(t, chips, numbers), expected, `as ${numbers}`);
  const inputs = chips.flatMap(([, , files]) => Object.keys(files).filter((file) => file.endsWith('_input')));
  for (const all of [expected.series, expected.entities, expected.labels]) t.equal(all.length, inputs.length);
  t.equal(new Set(expected.entities.map((text) => text.split(' ')[0])).size, inputs.length, 'ids');
  return expected;
}

const ASUS: readonly Chip[] = [
  ['asus', 'platform/asus-nb-wmi', { fan1_input: '2400', fan2_input: '2500' }],
  ['asus_wmi_sensors', 'platform/asus-nb-wmi', { fan1_input: '900', temp1_input: '41000' }],
];

t.test('[3.sensor-ids] two drivers of one device: both have their series and their entities', async (t) => {
  const { series, names } = await checkOrders(t, ASUS, [
    [5, 7],
    [7, 5],
    [10, 9],
  ]);
  t.strictSame(series, [
    'node_hwmon_fan_rpm{chip=platform_asus_nb_wmi_asus,sensor=fan1} 2400',
    'node_hwmon_fan_rpm{chip=platform_asus_nb_wmi_asus,sensor=fan2} 2500',
    'node_hwmon_fan_rpm{chip=platform_asus_nb_wmi_asus_wmi_sensors,sensor=fan1} 900',
    'node_hwmon_temp_celsius{chip=platform_asus_nb_wmi_asus_wmi_sensors,sensor=temp1} 41',
  ]);
  t.strictSame(names, [
    'chip=platform_asus_nb_wmi_asus,chip_name=asus',
    'chip=platform_asus_nb_wmi_asus_wmi_sensors,chip_name=asus_wmi_sensors',
  ]);
});

t.test('[3.sensor-ids] the radios of one Wi-Fi card', async (t) => {
  const radio = (at: number): Chip => [
    `mt7996_phy0.${at}`,
    'ieee80211/phy0',
    { temp1_input: `${51 + at}000` },
  ];
  const { series } = await checkOrders(
    t,
    [radio(0), radio(1), radio(2)],
    [
      [2, 3, 4],
      [4, 2, 3],
    ],
  );
  t.strictSame(
    series,
    [0, 1, 2].map(
      (at) => `node_hwmon_temp_celsius{chip=ieee80211_phy0_mt7996_phy0_${at},sensor=temp1} ${51 + at}`,
    ),
  );
  const equal = (celsius: number): Chip => [
    'ath12k_hwmon',
    'ieee80211/phy0',
    { temp1_input: `${celsius}000` },
  ];
  const counted = await checkOrders(
    t,
    [equal(40), equal(50), ['k10temp', 'pci0/0000:00:18.3', { temp1_input: '60000' }]],
    [
      [1, 2, 3],
      [2, 3, 1],
    ],
  );
  t.strictSame(
    counted.series,
    [
      'node_hwmon_temp_celsius{chip=ieee80211_phy0_ath12k_hwmon,sensor=temp1} 40',
      'node_hwmon_temp_celsius{chip=ieee80211_phy0_ath12k_hwmon_2,sensor=temp1} 50',
      'node_hwmon_temp_celsius{chip=pci0_0000:00:18_3,sensor=temp1} 60',
    ],
    'equal chips are counted, whatever other chips there are',
  );
});

t.test('[3.sensor-ids] chips of one device and one name differ in their sensors', async (t) => {
  const chips: readonly Chip[] = [
    ['hp', 'platform/hp-wmi', { fan1_input: '3000', fan1_label: 'rear' }],
    ['hp', 'platform/hp-wmi', { fan1_input: '2000', fan1_label: 'front' }],
    ['hp', 'platform/hp-wmi', { temp1_input: '45000' }],
  ];
  const { labels } = await checkOrders(t, chips, [
    [1, 2, 3],
    [3, 1, 2],
    [2, 3, 1],
  ]);
  t.strictSame(labels, ['hp-wmi 2 rear 3000', 'hp-wmi 3 temp1 45', 'hp-wmi front 2000']);
});

t.test('[3.sensor-ids] devices of one name on two buses', async (t) => {
  const fan = (bus: string, rpm: string): Chip => ['ec', `${bus}/fan0`, { fan1_input: rpm }];
  const { labels, series } = await checkOrders(
    t,
    [fan('usb', '700'), fan('acpi', '800')],
    [
      [1, 2],
      [2, 1],
    ],
  );
  t.strictSame(labels, ['ec fan0 2 fan1 700', 'ec fan0 fan1 800']);
  t.strictSame(series, [
    'node_hwmon_fan_rpm{chip=acpi_fan0,sensor=fan1} 800',
    'node_hwmon_fan_rpm{chip=usb_fan0,sensor=fan1} 700',
  ]);
});

t.test('[3.sensor-ids] chips of one name without a device', async (t) => {
  const chips: readonly Chip[] = [
    ['acpitz', '', { temp1_input: '27800' }],
    ['acpitz', '', { temp1_input: '29800', temp2_input: '30800' }],
  ];
  const { labels } = await checkOrders(t, chips, [
    [4, 5],
    [5, 4],
  ]);
  t.strictSame(labels, ['acpitz 2 temp1 29.8', 'acpitz 2 temp2 30.8', 'acpitz temp1 27.8']);
});

t.test(
  '[3.sensor-ids] a chip that shares its device with none is named after the device alone',
  async (t) => {
    const [asus] = ASUS;
    if (asus === undefined) throw new Error('there are chips');
    const { series } = await checkOrders(
      t,
      [asus, ['asus', 'platform/other', { fan1_input: '1' }]],
      [
        [0, 1],
        [1, 0],
      ],
    );
    t.strictSame(series, [
      'node_hwmon_fan_rpm{chip=platform_asus_nb_wmi,sensor=fan1} 2400',
      'node_hwmon_fan_rpm{chip=platform_asus_nb_wmi,sensor=fan2} 2500',
      'node_hwmon_fan_rpm{chip=platform_other,sensor=fan1} 1',
    ]);
  },
);

t.test("[3.sensor-ids] among a GPU's chips, the one named like its driver is read", async (t) => {
  const card = { ...AMD_CARD, address: '0000:03:00.0' };
  const other = (number: number): Tree => ({
    [`sys/bus/pci/devices/${card.address}/hwmon/hwmon${number}/name`]: 'amdgpu_part0\n',
    [`sys/bus/pci/devices/${card.address}/hwmon/hwmon${number}/temp1_input`]: '99000\n',
  });
  for (const number of [2, 4]) {
    const machine = makeMachine(t, { ...pci(card), ...other(number) });
    const { gpu } = await readUntil(
      machine.host,
      SECTION_BITS.gpu,
      true,
      (counters) => !!counters.gpu?.length,
    );
    t.equal(gpu?.[0]?.temperatureCelsius, 54, `beside hwmon${number}`);
  }
});
