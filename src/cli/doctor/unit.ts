/** What `hostwire doctor` says of systemd's units: which of them runs, and which doors are shut in it. */
import { lstatSync } from 'node:fs';
import path from 'node:path';
import type { Row } from './rows.ts';

export interface UnitFacts {
  /** Whether the machine was booted with systemd. */
  readonly hasSystemd: boolean;
  readonly systemRuns: boolean;
  /** Of the user who asks. */
  readonly userRuns: boolean;
}

// systemd keeps a link, to no file, for each unit that runs: the id of that run.
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
export function judgeUnit({ hasSystemd, systemRuns, userRuns }: UnitFacts): Row {
  const section = 'unit';
  if (systemRuns && userRuns)
    return {
      section,
      state: 'partly',
      source: 'system and user',
      reason: 'two services run: the second needs a port of its own, and clients may meet either',
      remedy: 'systemctl disable --now hostwire, or systemctl --user disable --now hostwire',
    };
  if (systemRuns)
    return {
      section,
      state: 'partly',
      source: 'system: stats, and power through polkit',
      reason: "no players (there is no session bus), no locking, no end to others' processes",
      remedy: 'the user unit can, on a desktop; media keys need the udev rule of packaging/udev',
    };
  if (userRuns)
    return {
      section,
      state: 'ok',
      source: 'user: what this user can do; power while logged in at the machine',
    };
  return hasSystemd
    ? { section, state: 'ok', source: 'none runs; docs/operating.md says how to install one' }
    : { section, state: 'ok', source: 'none: this machine was not booted with systemd' };
}
