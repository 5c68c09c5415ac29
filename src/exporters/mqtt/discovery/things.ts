/** The entities of what a machine may have several of: filesystems, interfaces, GPUs, sensors, batteries, drives. */
import type { Sample } from '../../../stats/sample.ts';
import type { BatteryDetail, SensorDetail } from '../../../wire/details.ts';
import type { GpuDevice, InterfaceDetail } from '../../../wire/sample.ts';
import {
  ALWAYS,
  DIAGNOSTIC,
  type Entity,
  entitiesOf,
  MEASURED,
  OFF,
  type Options,
  percent,
  type Row,
  row,
  yesNo,
} from './entity.ts';
import { slugsOf } from './ids.ts';
import { networkRows } from './machine.ts';
import { DISK, DRIVE, IMAGES } from './storage.ts';

/** Bound the document, which a broker keeps, on a machine with a mount per container. */
export const MAX_THINGS = { disk: 64, interface: 32, gpu: 8, sensor: 128, battery: 8, drive: 32 } as const;

const MAX_LABEL = 80;

/** Makes a name legible: without control characters, and not too long for a list. */
const legible = (name: string) =>
  name
    .replaceAll(/\p{C}+/gu, ' ')
    .trim()
    .slice(0, MAX_LABEL);

/** The entities of the first things of a kind, by the names that they keep. `label`: what people read; by default the name. */
function entitiesNamed<Thing>(
  kind: keyof typeof MAX_THINGS,
  all: readonly Thing[],
  nameOf: (thing: Thing, at: number) => string,
  labelOf: (thing: Thing, name: string) => string,
  rowsOf: (thing: Thing) => readonly Row<Thing>[],
): readonly Entity[] {
  const first = all.slice(0, MAX_THINGS[kind]);
  const names = first.map(nameOf);
  const slugs = slugsOf(names);
  return first.flatMap((thing, at) => {
    const label = legible(labelOf(thing, names[at] ?? ''));
    return entitiesOf(kind, [{ slug: slugs[at] ?? '', label, thing }], rowsOf(thing));
  });
}

const INTERFACE: readonly Row<InterfaceDetail>[] = [
  ...networkRows(false),
  row(
    'signal',
    ({ signal_dbm }) => signal_dbm,
    { ...MEASURED.dbm, ...DIAGNOSTIC },
    { isThere: ({ kind }) => kind === 'wifi' },
  ),
];

const GPU: readonly Row<GpuDevice>[] = [
  row('load', ({ load }) => load, percent('mdi:expansion-card')),
  row('temperature', ({ temperature }) => temperature, MEASURED.celsius),
  row('memory', ({ memory_used }) => memory_used, MEASURED.mebibytes, { name: 'memory in use' }),
  row('power', ({ power_watts }) => power_watts, MEASURED.watts),
  row('fan', ({ fan_percent }) => fan_percent, percent('mdi:fan')),
  row('clock', ({ clock_mhz }) => clock_mhz, { ...MEASURED.megahertz, ...OFF }),
];

const SENSOR_SHOWS: Readonly<Record<SensorDetail['kind'], Options>> = {
  temperature: MEASURED.celsius,
  fan: MEASURED.rpm,
  voltage: MEASURED.volts,
  power: MEASURED.watts,
};

const sensorRow = (kind: SensorDetail['kind']): readonly Row<SensorDetail>[] => [
  row('', ({ value }) => value, { ...SENSOR_SHOWS[kind], ...OFF, ...DIAGNOSTIC }, ALWAYS),
];

const BATTERY: readonly Row<BatteryDetail>[] = [
  row('percent', (battery) => battery.percent, MEASURED.battery, { ...ALWAYS, name: '' }),
  row(
    'charging',
    ({ state }) => (state === 'unknown' ? null : state === 'charging'),
    yesNo('battery_charging'),
    ALWAYS,
  ),
  row('power', ({ power_watts }) => power_watts, MEASURED.watts),
  row('time_left', ({ seconds_left }) => seconds_left, { ...MEASURED.seconds, ...OFF }, ALWAYS),
  row('health', ({ health_percent }) => health_percent, {
    ...percent('mdi:battery-heart-variant'),
    ...DIAGNOSTIC,
  }),
];

/** All batteries together. A battery that gives power says that there is no other source. */
const MAINS: readonly Row<readonly BatteryDetail[]>[] = [
  row(
    '',
    (batteries) => {
      const states = batteries.map(({ state }) => state);
      if (states.includes('discharging')) return false;
      return states.every((state) => state === 'unknown') ? null : true;
    },
    yesNo('plug'),
    { ...ALWAYS, name: 'On mains' },
  ),
];

/** Hardware, and what is configured by hand; not the ends of containers, of which each start makes a new one. */
const KINDS = new Set(['ethernet', 'wifi', 'bond', 'vlan', 'tunnel']);

/** Every other mount point has a slash in it (on Windows a colon), so none is called root. */
const mountName = ({ fs }: { readonly fs: string }) => (fs === '/' ? 'root' : fs);

export function thingEntities(sample: Sample): readonly Entity[] {
  const { disks, network, gpu, extras, counters } = sample;
  const gpus = gpu?.detail?.devices ?? [];
  const batteries = extras?.batteries ?? [];
  const mounts = (disks?.detail ?? []).filter(({ type }) => !IMAGES.has(type ?? ''));
  const links = (network?.detail?.interfaces ?? []).filter(({ kind }) => KINDS.has(kind));
  const places = counters.sensors ?? [];
  // A sensor's number in its label may change with the next start; the device and the file that it is read from do not.
  const placeOf = ({ label }: SensorDetail, at: number) => {
    const { device = '', file = '' } = places[at] ?? {};
    return device === '' || file === '' ? label : `${device}/${file}`;
  };
  const name = (thing: { readonly name: string }) => thing.name;
  const gpuLabel = ({ name: own }: GpuDevice) => (gpus.length === 1 ? 'GPU' : own);
  const batteryLabel = ({ name: own }: BatteryDetail) =>
    batteries.length === 1 ? 'Battery' : `Battery ${own}`;
  return [
    ...entitiesNamed(
      'disk',
      mounts,
      mountName,
      ({ fs }) => `Disk ${fs}`,
      () => DISK,
    ),
    ...entitiesNamed('interface', links, name, name, () => INTERFACE),
    ...entitiesNamed('gpu', gpus, name, gpuLabel, () => GPU),
    ...entitiesNamed(
      'sensor',
      extras?.sensors ?? [],
      placeOf,
      ({ label }) => label,
      ({ kind }) => sensorRow(kind),
    ),
    ...entitiesNamed('battery', batteries, name, batteryLabel, () => BATTERY),
    ...entitiesOf('mains', batteries.length === 0 ? [] : [{ slug: '', label: '', thing: batteries }], MAINS),
    ...entitiesNamed(
      'drive',
      extras?.drives ?? [],
      name,
      (drive) => `Drive ${drive.name}`,
      () => DRIVE,
    ),
  ];
}
