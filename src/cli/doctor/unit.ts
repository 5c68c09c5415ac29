/** The row about systemd's units: which of them runs, and its limits. */
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
      reason: 'two services are running: each needs its own port, and clients may reach either',
      remedy: 'stop one: systemctl disable --now hostwire, or systemctl --user disable --now hostwire',
    });
  if (systemRuns)
    return partly(subject, 'system: stats, and power through polkit', {
      reason: "no media players (no session bus), no locking, and other users' processes cannot be ended",
      remedy: 'on a desktop, use the user unit; media keys need the udev rule of packaging/udev',
    });
  if (userRuns)
    return works(subject, "user: with this user's rights; power only while logged in at the machine");
  return works(
    subject,
    hasSystemd
      ? 'not running; docs/operating.md explains how to install one'
      : 'none: this machine was not booted with systemd',
  );
}
