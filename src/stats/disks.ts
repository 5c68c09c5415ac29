/** The disks section of a sample: one entry per mount. */
import type { DiskCounters, DiskUsage } from '../host/host.ts';
import type { DiskDetail, DiskStats } from '../wire/sample.ts';
import { percentOf, rateOf } from './round.ts';

// Like df: blocks reserved for root are neither used nor available.
const usedOf = (usage: DiskUsage) => Math.max(0, usage.totalBytes - usage.freeBytes);

/** A mount that never answered has no numbers and is left out. */
export function deriveDiskStats(disks: readonly DiskCounters[] | null): readonly DiskStats[] {
  const entries: DiskStats[] = [];
  for (const disk of disks ?? []) {
    if (disk.usage === null) continue;
    const used = usedOf(disk.usage);
    const available = disk.usage.availableBytes;
    entries.push({
      fs: disk.mountPoint,
      used,
      available,
      used_percent: percentOf(used, used + available) ?? 0,
    });
  }
  return entries;
}

/** The kernel counts 32 bits of milliseconds, which wrap after 49 days of work. */
const BUSY_RANGE = 2 ** 32;
/** Maximum share of the interval: the kernel's clock and ours are not read at the same moment. */
const MAX_BUSY = 1.5;

/** Returns null if the counter restarted for another reason: after a wrap no more can have passed than the interval. */
function busyPercent(before: number, after: number, milliseconds: number): number | null {
  const grown = after - before;
  if (grown >= 0) return percentOf(grown, milliseconds);
  const wrapped = grown + BUSY_RANGE;
  return wrapped <= milliseconds * MAX_BUSY ? percentOf(wrapped, milliseconds) : null;
}

function deriveEntry(before: DiskCounters | undefined, disk: DiskCounters, seconds: number): DiskDetail {
  const used = disk.usage && usedOf(disk.usage);
  const available = disk.usage?.availableBytes ?? null;
  const io = disk.io ?? null;
  // Another device of the same filesystem adds all that it has ever counted.
  const isSame = before?.device === disk.device && before?.ioDevices === disk.ioDevices;
  const ioBefore = isSame ? (before?.io ?? null) : null;
  // Counters that step back belong to a new device under the old name.
  const hasRates =
    io !== null &&
    ioBefore !== null &&
    seconds > 0 &&
    io.readBytes >= ioBefore.readBytes &&
    io.writeBytes >= ioBefore.writeBytes;
  return {
    fs: disk.mountPoint,
    used,
    available,
    used_percent: used === null || available === null ? null : percentOf(used, used + available),
    device: disk.device ?? null,
    type: disk.type ?? null,
    size: disk.usage?.totalBytes ?? null,
    label: disk.label ?? null,
    read_only: disk.isReadOnly ?? null,
    removable: disk.isRemovable ?? null,
    stale: disk.isStale === true || disk.usage === null,
    read_bytes: io?.readBytes ?? null,
    write_bytes: io?.writeBytes ?? null,
    read_rate: hasRates ? rateOf(ioBefore.readBytes, io.readBytes, seconds) : null,
    write_rate: hasRates ? rateOf(ioBefore.writeBytes, io.writeBytes, seconds) : null,
    busy_percent: hasRates ? busyPercent(ioBefore.busyMs, io.busyMs, seconds * 1000) : null,
  };
}

/** `seconds` between the two readings; 0 if no rate can be derived (a first reading, a resume). */
export function deriveDiskDetail(
  before: readonly DiskCounters[] | undefined,
  disks: readonly DiskCounters[] | null,
  seconds: number,
): readonly DiskDetail[] {
  const byMount = new Map(before?.map((disk) => [disk.mountPoint, disk]));
  return (disks ?? []).map((disk) => deriveEntry(byMount.get(disk.mountPoint), disk, seconds));
}
