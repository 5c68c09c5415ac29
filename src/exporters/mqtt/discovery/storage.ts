/** The entities of filesystems and drives. */
import type { DriveDetail } from '../../../wire/details.ts';
import type { DiskDetail } from '../../../wire/sample.ts';
import {
  DIAGNOSTIC,
  GIB,
  GIGABYTE,
  GROWING,
  MEASURED,
  MEGABYTE,
  OFF,
  percent,
  plain,
  type Row,
  yesNo,
} from './entity.ts';

/** Images, which are always full: one of each is mounted per package, under a name of its version. */
export const IMAGES = new Set(['squashfs', 'erofs', 'iso9660']);

const hasIo = ({ read_bytes }: DiskDetail) => read_bytes !== null;
const diskRate = { ...MEASURED.megabytes, ...OFF };
const diskTotal = { ...GROWING, ...OFF };

export const DISK: readonly Row<DiskDetail>[] = [
  {
    key: 'used_percent',
    name: 'used',
    value: ({ used_percent }) => used_percent,
    isThere: () => true,
    show: percent('mdi:harddisk'),
  },
  {
    key: 'free',
    name: 'free',
    value: ({ available }) => available,
    isThere: () => true,
    per: GIB,
    show: MEASURED.gibibytes,
  },
  {
    key: 'read',
    name: 'read',
    value: ({ read_rate }) => read_rate,
    isThere: hasIo,
    per: MEGABYTE,
    show: diskRate,
  },
  {
    key: 'write',
    name: 'write',
    value: ({ write_rate }) => write_rate,
    isThere: hasIo,
    per: MEGABYTE,
    show: diskRate,
  },
  {
    key: 'busy',
    name: 'busy',
    value: ({ busy_percent }) => busy_percent,
    isThere: hasIo,
    show: { ...percent('mdi:harddisk'), ...OFF },
  },
  {
    key: 'was_read',
    name: 'read since boot',
    value: ({ read_bytes }) => read_bytes,
    per: GIGABYTE,
    show: diskTotal,
  },
  {
    key: 'was_written',
    name: 'written since boot',
    value: ({ write_bytes }) => write_bytes,
    per: GIGABYTE,
    show: diskTotal,
  },
  {
    key: 'silent',
    name: 'does not answer',
    value: ({ stale }) => stale,
    show: { ...yesNo('problem'), ...OFF, ...DIAGNOSTIC },
  },
];

export const DRIVE: readonly Row<DriveDetail>[] = [
  {
    key: 'failing',
    name: 'expects to fail',
    value: ({ health }) => (health?.passed == null ? null : !health.passed),
    show: { ...yesNo('problem'), ...DIAGNOSTIC },
  },
  {
    key: 'temperature',
    name: 'temperature',
    value: ({ health }) => health?.temperature ?? null,
    show: { ...MEASURED.celsius, ...DIAGNOSTIC },
  },
  {
    key: 'endurance',
    name: 'endurance used',
    value: ({ health }) => health?.percentage_used ?? null,
    show: { ...percent('mdi:harddisk'), ...DIAGNOSTIC },
  },
  {
    key: 'powered_on',
    name: 'time switched on',
    value: ({ health }) => health?.power_on_hours ?? null,
    show: { ...MEASURED.hours, ...OFF, ...DIAGNOSTIC },
  },
  {
    key: 'media_errors',
    name: 'media errors',
    value: ({ health }) => health?.media_errors ?? null,
    show: { ...plain('mdi:alert-circle-outline'), ...OFF, ...DIAGNOSTIC },
  },
];
