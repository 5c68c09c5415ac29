/** Which points of the charts a sample holds. */
import { type Point, shareOf } from './history.ts';
import type { Sample } from './sample.ts';

const sumOf = (values: readonly (number | null)[]): Point => {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((a, b) => a + b, 0);
};

/** The series of one sample. */
export function pointsOf({
  cpu,
  memory,
  gpu,
  disks = [],
  network,
  sensors,
  batteries,
}: Sample): Map<string, Point> {
  const points = new Map<string, Point>([
    ['cpu', cpu?.current_load ?? null],
    ['memory', memory?.used_percent ?? null],
    ['swap', memory?.swap?.used_percent ?? null],
    ['receive', network?.receive_rate ?? null],
    ['send', network?.send_rate ?? null],
    // Of one device several filesystems may be mounted, each with all of its traffic.
    ['read', sumOf([...new Map(disks.map((disk) => [disk.device, disk.read_rate])).values()])],
    ['write', sumOf([...new Map(disks.map((disk) => [disk.device, disk.write_rate])).values()])],
  ]);
  cpu?.cores.forEach((load, i) => points.set(`core ${i}`, load));
  gpu?.devices.forEach((device, i) => {
    points.set(`gpu ${i}`, device.load);
    points.set(`gpu memory ${i}`, shareOf(device.memory_used, device.memory_total));
  });
  for (const sensor of sensors)
    if (sensor.kind === 'temperature') points.set(`sensor ${sensor.label}`, sensor.value);
  for (const battery of batteries) points.set(`battery ${battery.name}`, battery.percent);
  return points;
}
