/** What one reading with detail says of each section on Windows, where other things tell it than on Linux. Pure. */
import type { Counters } from '../../host/host.ts';
import type { Row } from './rows.ts';

type Judge = (counters: Counters) => readonly Row[];

const JUDGES: readonly Judge[] = [
  judgeCpu,
  judgeMemory,
  judgeDisks,
  judgeNetwork,
  judgeSensors,
  judgeBatteries,
];

export function judgeWindowsReading(counters: Counters): readonly Row[] {
  return JUDGES.flatMap((judge) => judge(counters));
}

function unreadable(section: string, source: string, counters: Counters, key: string): Row {
  return { section, state: 'missing', source, reason: counters.failures?.[key] ?? 'it gave nothing' };
}

function judgeCpu(counters: Counters): readonly Row[] {
  const { cpu } = counters;
  const source = 'NtQuerySystemInformation';
  const times: Row = cpu
    ? { section: 'cpu', state: 'ok', source: `${cpu.cores?.length ?? 0} processors from ${source}` }
    : unreadable('cpu', source, counters, 'cpu');
  const speed: Row =
    cpu?.speedHz == null
      ? {
          section: 'speed',
          state: 'missing',
          source: 'Processor Information and the power manager',
          reason: 'neither tells how fast the processors run, as in some virtual machines',
        }
      : { section: 'speed', state: 'ok', source: `${Math.round(cpu.speedHz / 1e6)} MHz` };
  return [times, speed];
}

function judgeMemory(counters: Counters): readonly Row[] {
  const { memory } = counters;
  if (!memory) return [unreadable('memory', 'GlobalMemoryStatusEx', counters, 'memory')];
  const source = `${Math.round(memory.totalBytes / 2 ** 20)} MiB from GlobalMemoryStatusEx`;
  if (memory.swapTotalBytes != null) return [{ section: 'memory', state: 'ok', source }];
  return [{ section: 'memory', state: 'partly', source, reason: 'nobody tells of the page files' }];
}

function judgeDisks(counters: Counters): readonly Row[] {
  const section = 'disks';
  const { disks } = counters;
  if (!disks) return [unreadable(section, 'the mount manager', counters, 'disks')];
  const source = `${disks.map((disk) => disk.mountPoint).join(', ')} from the mount manager`;
  const stale = disks.filter((disk) => disk.isStale).map((disk) => disk.mountPoint);
  const uncounted = disks.filter((disk) => !disk.isStale && disk.io == null).map((disk) => disk.mountPoint);
  const reasons = [
    ...(stale.length === 0 ? [] : [`no answer from ${stale.join(', ')}`]),
    ...(uncounted.length === 0 ? [] : [`no driver counts what ${uncounted.join(', ')} reads and writes`]),
  ];
  if (reasons.length === 0) return [{ section, state: 'ok', source }];
  return [{ section, state: 'partly', source, reason: reasons.join('; ') }];
}

function judgeNetwork(counters: Counters): readonly Row[] {
  const section = 'network';
  const { network } = counters;
  if (!network) return [unreadable(section, 'GetIfTable2', counters, 'network')];
  return [{ section, state: 'ok', source: `${network.length} interfaces from GetIfTable2` }];
}

function judgeSensors(): readonly Row[] {
  return [
    {
      section: 'sensors',
      state: 'missing',
      source: 'no temperature, fan, voltage or power',
      reason: "Windows shows a program the processor's and the board's sensors only through a kernel driver",
    },
  ];
}

function judgeBatteries(counters: Counters): readonly Row[] {
  const section = 'batteries';
  const names = (counters.batteries ?? []).map(({ name }) => name);
  return [{ section, state: 'ok', source: names.length === 0 ? 'none' : names.join(', ') }];
}

/** What other judges say of Linux, said of Windows. */
export function inWindowsWords(row: Row): Row {
  if (row.section === 'processes')
    return { ...row, source: row.source.replace(/ in \S+$/, ' from NtQuerySystemInformation') };
  if (row.section !== 'media' || row.remedy === undefined) return row;
  return {
    ...row,
    source: 'no media sessions',
    remedy:
      'run it as the user who sits at the machine: a service has no players, and Windows before 10 1809 none',
  };
}
