/** How many sockets a process has open, by its descriptors. */
import { readdirSync, readlinkSync } from 'node:fs';

/** Open sockets of a process; what else it opens is not the peers' doing. */
export function socketsOf(pid: number): number {
  const isSocket = (fd: string) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`).startsWith('socket:');
    } catch {
      return false;
    }
  };
  return readdirSync(`/proc/${pid}/fd`).filter(isSocket).length;
}
