/** A service with all kinds of hardware, for the terminal. */
import type { Test } from 'tap';
import type { History } from '#src/history/history.js';
import { livelyHost } from '../../helpers/fakes/lively-host.ts';
import { playerOf, snapshotOf } from '../../helpers/fakes/media.ts';
import { type ConfigPart, type ServiceHere, serveHere } from '../../helpers/service/service.ts';

/** A title that would clear the screen, set the window's title and break the columns. */
export const HOSTILE_TITLE = '\x1b[2J\x1b]0;owned\x07日本語 👩‍👩‍👧 \u202Eevil\u009b31m\r\nNEXT';

export async function startLively(
  t: Pick<Test, 'teardown'>,
  config: ConfigPart = {},
  title = HOSTILE_TITLE,
  history?: History,
): Promise<ServiceHere> {
  const host = livelyHost();
  host.media.snapshot = snapshotOf(playerOf('spotify', { playback: 'playing', title, artists: ['Ω'] }));
  const more = history === undefined ? {} : { history };
  return await serveHere(t, host, { stats: { stream_interval_seconds: 1 }, ...config }, more);
}
