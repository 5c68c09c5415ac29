/** How many sockets a process has open, by its descriptors. */
import { readdirSync, readlinkSync } from 'node:fs';

/** The open sockets of a process; its other descriptors do not depend on peers. */
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
