/** Decides whether the health of any drive can be shown. Pure. */
import type { DriveDetail } from '../../src/wire/details.ts';
import { TEXTS } from '../texts.ts';

export const NO_DRIVE = 'no drives found';

/** Returns why no drive's health can be read; undefined if that of at least one can. */
export function whyNoHealth(drives: readonly DriveDetail[]): string | undefined {
  if (drives.some(({ health }) => health !== null)) return undefined;
  const reasons = new Set(drives.map(({ reason }) => reason ?? TEXTS.unknown));
  return drives.length === 0 ? NO_DRIVE : [...reasons].join('; ');
}
