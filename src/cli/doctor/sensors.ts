/** What a reading says of sensors, drives, batteries, Wi-Fi and the processor's power, and what is missing for them. Pure. */
import type { Reading, Row } from './rows.ts';

const MOST_NAMED = 5;

/** "a, b, c and 4 more". */
function listOf(names: readonly string[]): string {
  const rest = names.length - MOST_NAMED;
  return names.slice(0, MOST_NAMED).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

const countOf = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

export function judgeCpuPower({ counters, sys }: Reading): readonly Row[] {
  const section = 'cpu-power';
  const source = `${sys}/class/powercap/intel-rapl:*/energy_uj`;
  const energy = counters.cpu?.energy;
  if (energy?.failure)
    return [
      {
        section,
        state: 'missing',
        source,
        reason: `${energy.failure} (since Linux 5.10 it is root's: fine steps of the power tell of what others compute)`,
        remedy: `give it to a group that the service is in, if that is no concern here, by a line in /etc/tmpfiles.d: z ${source} 0440 root GROUP`,
      },
    ];
  if (!energy || energy.zones.length === 0)
    return [
      {
        section,
        state: 'missing',
        source,
        reason: 'no package counts its energy there, as in virtual machines and on ARM',
        remedy: 'on Intel, and on AMD since Linux 5.11: load the module intel_rapl_msr',
      },
    ];
  return [{ section, state: 'ok', source: `${countOf(energy.zones.length, 'package')} from ${source}` }];
}

export function judgeSensors({ counters, sys }: Reading): readonly Row[] {
  const section = 'sensors';
  const sensors = counters.sensors ?? [];
  const folder = `${sys}/class/hwmon`;
  if (sensors.length === 0)
    return [
      {
        section,
        state: 'missing',
        source: folder,
        reason: 'no chip there measures anything, as is usual in virtual machines',
        remedy: 'run sensors-detect (package lm-sensors) and load the modules that it names',
      },
    ];
  const chips = new Set(sensors.map(({ chip }) => chip));
  const source = `${countOf(sensors.length, 'sensor')} of ${countOf(chips.size, 'chip')} from ${folder}`;
  const failed = sensors.filter(({ failure }) => failure !== null);
  const silent = sensors.filter(({ value, failure }) => value === null && failure === null);
  if (failed.length + silent.length === 0) return [{ section, state: 'ok', source }];
  const reasons = [
    ...(failed.length === 0
      ? []
      : [`fail: ${listOf(failed.map(({ label, failure }) => `${label} (${failure})`))}`]),
    ...(silent.length === 0
      ? []
      : [`nothing connected, or asleep: ${listOf(silent.map(({ label }) => label))}`]),
  ];
  return [{ section, state: 'partly', source, reason: reasons.join('; ') }];
}

/** SATA disks have no sensor chip of their own unless a module makes them one. */
export function judgeDrives({ counters }: Reading): readonly Row[] {
  const section = 'drives';
  const drivers = ['nvme', 'drivetemp'];
  const chips = new Set(
    (counters.sensors ?? []).filter(({ driver }) => drivers.includes(driver)).map(({ chip }) => chip),
  );
  const hasDriveTemp = counters.sensors?.some(({ driver }) => driver === 'drivetemp') ?? false;
  const sata = (counters.disks ?? []).some(
    ({ device, isRemovable }) => device?.startsWith('/dev/sd') && isRemovable !== true,
  );
  const source = chips.size === 0 ? 'no temperature of a drive' : listOf([...chips]);
  if (sata && !hasDriveTemp)
    return [
      {
        section,
        state: chips.size === 0 ? 'missing' : 'partly',
        source,
        reason: 'the SATA disks tell theirs to the module drivetemp only, which is not loaded',
        remedy: 'modprobe drivetemp, and a line "drivetemp" in /etc/modules-load.d/drivetemp.conf',
      },
    ];
  if (chips.size > 0) return [{ section, state: 'ok', source }];
  return [{ section, state: 'missing', source, reason: 'there is no NVMe or SATA drive to ask' }];
}

export function judgeBatteries({ counters, sys }: Reading): readonly Row[] {
  const section = 'batteries';
  const batteries = counters.batteries ?? [];
  const folder = `${sys}/class/power_supply`;
  if (batteries.length === 0) return [{ section, state: 'ok', source: `none in ${folder}` }];
  const source = `${batteries.map(({ name }) => name).join(', ')} from ${folder}`;
  const failed = batteries.filter(({ failure }) => failure !== null);
  if (failed.length === 0) return [{ section, state: 'ok', source }];
  const reason = failed.map(({ name, failure }) => `${name}: ${failure}`).join('; ');
  return [{ section, state: failed.length === batteries.length ? 'missing' : 'partly', source, reason }];
}

/** No row on a machine without Wi-Fi. */
export function judgeWifi({ counters, proc }: Reading): readonly Row[] {
  const section = 'wifi';
  const links = (counters.network ?? []).filter(({ kind }) => kind === 'wifi');
  if (links.length === 0) return [];
  const source = `${listOf(links.map(({ name }) => name))} from nl80211 or ${proc}/net/wireless`;
  const silent = links.filter(({ isUp, signalDbm }) => isUp === true && signalDbm == null);
  if (silent.length === 0) return [{ section, state: 'ok', source }];
  return [
    {
      section,
      state: 'partly',
      source,
      reason: `nobody tells the signal of ${listOf(silent.map(({ name }) => name))}`,
      ...(proc === '/proc' ? {} : { remedy: 'leave host.proc at /proc: nl80211 knows only its own network' }),
    },
  ];
}
