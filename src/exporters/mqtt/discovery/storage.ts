/** The entities of filesystems and drives. */
import type { DriveDetail } from '../../../wire/details.ts';
import type { DiskDetail } from '../../../wire/sample.ts';
import {
  ALWAYS,
  DIAGNOSTIC,
  GIB,
  GIGABYTE,
  GROWING,
  MEASURED,
  MEGABYTE,
  OFF,
  type Options,
  percent,
  plain,
  type Row,
  row,
  yesNo,
} from './entity.ts';

/** Images, which are always full: one of each is mounted per package, under a name of its version. */
export const IMAGES = new Set(['squashfs', 'erofs', 'iso9660']);

const io = { isThere: ({ read_bytes }: DiskDetail) => read_bytes !== null } as const;
const diskRate = { ...MEASURED.megabytes, ...OFF };
const diskTotal = { ...GROWING, ...OFF };

export const DISK: readonly Row<DiskDetail>[] = [
  row('used_percent', ({ used_percent }) => used_percent, percent('mdi:harddisk'), {
    ...ALWAYS,
    name: 'used',
  }),
  row('free', ({ available }) => available, MEASURED.gibibytes, { ...ALWAYS, per: GIB }),
  row('read', ({ read_rate }) => read_rate, diskRate, { ...io, per: MEGABYTE }),
  row('write', ({ write_rate }) => write_rate, diskRate, { ...io, per: MEGABYTE }),
  row('busy', ({ busy_percent }) => busy_percent, { ...percent('mdi:harddisk'), ...OFF }, io),
  row('was_read', ({ read_bytes }) => read_bytes, diskTotal, { name: 'read since boot', per: GIGABYTE }),
  row('was_written', ({ write_bytes }) => write_bytes, diskTotal, {
    name: 'written since boot',
    per: GIGABYTE,
  }),
  row(
    'silent',
    ({ stale }) => stale,
    { ...yesNo('problem'), ...OFF, ...DIAGNOSTIC },
    { name: 'does not answer' },
  ),
];

const ofDrive = (key: string, value: Row<DriveDetail>['value'], show: Options, name?: string) =>
  row(key, value, { ...show, ...DIAGNOSTIC }, name === undefined ? {} : { name });

export const DRIVE: readonly Row<DriveDetail>[] = [
  ofDrive(
    'failing',
    ({ health }) => (health?.passed == null ? null : !health.passed),
    yesNo('problem'),
    'expects to fail',
  ),
  ofDrive('temperature', ({ health }) => health?.temperature ?? null, MEASURED.celsius),
  ofDrive(
    'endurance',
    ({ health }) => health?.percentage_used ?? null,
    percent('mdi:harddisk'),
    'endurance used',
  ),
  ofDrive(
    'powered_on',
    ({ health }) => health?.power_on_hours ?? null,
    { ...MEASURED.hours, ...OFF },
    'time switched on',
  ),
  ofDrive('media_errors', ({ health }) => health?.media_errors ?? null, {
    ...plain('mdi:alert-circle-outline'),
    ...OFF,
  }),
];
