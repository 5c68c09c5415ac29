/** What one reading with detail says of each section: the judges that `hostwire doctor` asks in turn. Pure. */
import type { Reading, Row } from './rows.ts';
import { judgeBatteries, judgeCpuPower, judgeDrives, judgeSensors, judgeWifi } from './sensors.ts';

/** A judge gives the rows of its sections. A new collector adds one. */
type Judge = (reading: Reading) => readonly Row[];

const JUDGES: readonly Judge[] = [
  judgeCpu,
  judgeCpuPower,
  judgeMemory,
  judgeDisks,
  judgeNetwork,
  judgeWifi,
  judgeSensors,
  judgeDrives,
  judgeBatteries,
];

export function judgeReading(reading: Reading): readonly Row[] {
  return JUDGES.flatMap((judge) => judge(reading));
}

function unreadable(section: string, source: string, { counters }: Reading, key: string): Row {
  const reason = counters.failures?.[key] ?? 'not readable on this platform';
  return { section, state: 'missing', source, reason };
}

function judgeCpu(reading: Reading): readonly Row[] {
  const { proc, sys } = reading;
  const { cpu } = reading.counters;
  const times: Row = cpu
    ? { section: 'cpu', state: 'ok', source: `${cpu.cores?.length ?? 0} processors from ${proc}/stat` }
    : unreadable('cpu', `${proc}/stat`, reading, 'cpu');
  const temperature: Row =
    cpu?.temperatureCelsius == null
      ? {
          section: 'temperature',
          state: 'missing',
          source: `${sys}/class/hwmon and ${sys}/class/thermal`,
          reason: 'no sensor there speaks of the processor, as is usual in virtual machines',
          remedy: 'load the driver of its sensor: coretemp (Intel), k10temp (AMD)',
        }
      : { section: 'temperature', state: 'ok', source: `${cpu.temperatureCelsius} °C` };
  const speed: Row =
    cpu?.speedHz == null
      ? {
          section: 'speed',
          state: 'missing',
          source: `${sys}/devices/system/cpu/cpu0/cpufreq and ${proc}/cpuinfo`,
          reason: 'there is neither cpufreq nor a line with MHz',
        }
      : { section: 'speed', state: 'ok', source: `${Math.round(cpu.speedHz / 1e6)} MHz` };
  return [times, temperature, speed];
}

function judgeMemory(reading: Reading): readonly Row[] {
  const { proc } = reading;
  const { memory } = reading.counters;
  if (!memory) return [unreadable('memory', `${proc}/meminfo`, reading, 'memory')];
  const total = `${Math.round(memory.totalBytes / 2 ** 20)} MiB from ${proc}/meminfo`;
  const pressure: Row =
    memory.pressure == null
      ? {
          section: 'pressure',
          state: 'missing',
          source: `${proc}/pressure`,
          reason: 'the kernel is older than 4.20 or does not measure it',
          remedy: 'boot with psi=1',
        }
      : { section: 'pressure', state: 'ok', source: `from ${proc}/pressure` };
  return [{ section: 'memory', state: 'ok', source: total }, pressure];
}

function judgeDisks(reading: Reading): readonly Row[] {
  const { disks } = reading.counters;
  if (!disks) return [unreadable('disks', `${reading.proc}/self/mountinfo`, reading, 'disks')];
  const stale = disks.filter((disk) => disk.isStale).map((disk) => disk.mountPoint);
  const source = `${disks.length} ${disks.length === 1 ? 'mount' : 'mounts'}`;
  if (stale.length === 0) return [{ section: 'disks', state: 'ok', source }];
  return [{ section: 'disks', state: 'partly', source, reason: `no answer from ${stale.join(', ')}` }];
}

function judgeNetwork(reading: Reading): readonly Row[] {
  const { network } = reading.counters;
  if (!network) return [unreadable('network', `${reading.proc}/net/dev`, reading, 'network')];
  const source = `${network.length} interfaces from ${reading.proc}/net/dev`;
  return [{ section: 'network', state: 'ok', source }];
}
