/** The name of this machine in other systems: the same for ever, and nothing that says which machine it is. */
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** The part of the configuration with the identity. */
interface HostIdentity {
  readonly id: string | undefined;
  /** Where the file system of a container's host is. */
  readonly root: string | undefined;
}

/** systemd's, and D-Bus's where there is no systemd. */
const MACHINE_IDS = ['/etc/machine-id', '/var/lib/dbus/machine-id'];
const ID_LENGTH = 16;

/**
 * `host.id`, or a digest of the machine's own id, which machine-id(5) asks not to be shown. Where there is none (Windows,
 * many containers) it is a digest of the host name. Of `[A-Za-z0-9_-]`.
 */
export function identify({ id, root = '/' }: HostIdentity, hostname = os.hostname()): string {
  if (id !== undefined) return id;
  const own = MACHINE_IDS.map((file) => readId(path.join(root, file))).find((text) => text !== undefined);
  return createHmac('sha256', own ?? hostname)
    .update('hostwire')
    .digest('hex')
    .slice(0, ID_LENGTH);
}

function readId(file: string): string | undefined {
  try {
    return /^[0-9a-f]{32}$/.exec(readFileSync(file, 'utf8').trim())?.[0];
  } catch {
    return undefined;
  }
}
