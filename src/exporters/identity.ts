/** The id under which other systems know this machine. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** The part of the configuration that it depends on. */
export interface IdentitySettings {
  readonly id?: string | undefined;
  readonly root: string | undefined;
}

/** machine-id(5): to be shown hashed with a fixed key of the application, never as it is. */
const LABEL = 'hostwire machine';
const DIGITS = 16;

/** `host.id`, or 16 hex digits that stay the same as long as the machine's own id, and from which nobody learns that. */
export function machineId({ id, root }: IdentitySettings): string {
  return (
    id ??
    createHash('sha256')
      .update(`${LABEL}\n${ownId(root)}`)
      .digest('hex')
      .slice(0, DIGITS)
  );
}

/** Where there is no such file (Windows, some containers), the host name stands for it. */
function ownId(root = '/'): string {
  for (const file of ['etc/machine-id', 'var/lib/dbus/machine-id']) {
    try {
      const text = readFileSync(path.join(root, file), 'utf8').trim();
      // "uninitialized" while the system is installed.
      if (/^[0-9a-f]{32}$/u.test(text)) return text;
    } catch {
      // The next one.
    }
  }
  return os.hostname();
}
