/** The machine's own host names. */
import { readFileSync } from 'node:fs';
import os from 'node:os';

/** Returns all names on the lines of a hosts(5) file with `hostname`, among them its full name, if it has one. */
export function namesBeside(hostname: string, hosts: string): readonly string[] {
  const names: string[] = [];
  for (const line of hosts.split('\n')) {
    const [, ...onLine] = (line.split('#', 1)[0] ?? '').trim().split(/\s+/);
    if (onLine.includes(hostname)) names.push(...onLine);
  }
  return names;
}

/** Returns the short and the full host name, without a lookup on the network. */
export function readMachineNames(hostsFile = '/etc/hosts'): readonly string[] {
  const hostname = os.hostname();
  let hosts = '';
  try {
    hosts = readFileSync(hostsFile, 'utf8');
  } catch {
    // Windows and some containers have no such file; the host name is enough then.
  }
  return [...new Set([hostname, hostname.split('.', 1)[0] ?? hostname, ...namesBeside(hostname, hosts)])];
}
