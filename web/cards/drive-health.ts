/** Whether there is anything to show of the drives. Pure. */
import type { DriveDetail } from '../../src/wire/details.ts';
import { TEXTS } from '../texts.ts';

export const NO_DRIVE = 'no drives found';

/** Why the health of no drive can be read; undefined where that of one can. */
export function whyNoHealth(drives: readonly DriveDetail[]): string | undefined {
  if (drives.some(({ health }) => health !== null)) return undefined;
  const reasons = new Set(drives.map(({ reason }) => reason ?? TEXTS.unknown));
  return drives.length === 0 ? NO_DRIVE : [...reasons].join('; ');
}
