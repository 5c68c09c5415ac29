/** The row on systemd's units: which of them runs, and what it cannot do. */
import { lstatSync } from 'node:fs';
import path from 'node:path';
import type { Finding } from '../../host/finding.ts';
import { partly, works } from './rows.ts';

export interface UnitFacts {
  /** Whether the machine was booted with systemd. */
  readonly hasSystemd: boolean;
  readonly systemRuns: boolean;
  /** The unit of the user who runs `hostwire doctor`. */
  readonly userRuns: boolean;
}

// systemd keeps a dangling link for each unit that runs: its target is the id of that run.
const RUNNING = 'systemd/units/invocation:hostwire.service';

/** `runtimeFolder`: $XDG_RUNTIME_DIR. `root`: where the machine's files are. */
export function readUnitFacts(runtimeFolder: string | undefined, root = '/'): UnitFacts {
  const isThere = (file: string) => lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  return {
    // sd_booted(3)
    hasSystemd: isThere(path.join(root, 'run/systemd/system')),
    systemRuns: isThere(path.join(root, 'run', RUNNING)),
    userRuns: runtimeFolder !== undefined && isThere(path.join(runtimeFolder, RUNNING)),
  };
}

/** Pure. */
export function judgeUnit({ hasSystemd, systemRuns, userRuns }: UnitFacts): Finding {
  const subject = 'unit';
  if (systemRuns && userRuns)
    return partly(subject, 'system and user', {
      reason: 'two services run: the second needs a port of its own, and clients may reach either',
      remedy: 'systemctl disable --now hostwire, or systemctl --user disable --now hostwire',
    });
  if (systemRuns)
    return partly(subject, 'system: stats, and power through polkit', {
      reason: "no players (there is no session bus), no locking, no ending of other users' processes",
      remedy: 'on a desktop, use the user unit; media keys need the udev rule of packaging/udev',
    });
  if (userRuns) return works(subject, 'user: what this user may do; power while logged in at the machine');
  return works(
    subject,
    hasSystemd
      ? 'none runs; docs/operating.md says how to install one'
      : 'none: this machine was not booted with systemd',
  );
}
