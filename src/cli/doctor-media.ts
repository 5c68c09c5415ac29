/** What `hostwire doctor` says of players and media keys. */
import type { MediaHost, MediaSnapshot } from '../host/media.ts';

interface Finding {
  readonly subject: string;
  readonly state: 'ok' | 'part' | 'no';
  readonly text: string;
}

/** What the first answers of all players are waited for. */
const SETTLE_MS = 1100;
const LOOK_MS = 20;

export async function examineMedia(
  media: MediaHost | undefined,
  isEnabled: boolean,
): Promise<readonly Finding[]> {
  if (!isEnabled) return [{ subject: 'media', state: 'part', text: 'switched off by features.enable_media' }];
  if (media === undefined)
    return [{ subject: 'media', state: 'no', text: 'players are not known of on this platform' }];
  media.watch();
  for (let waitedMs = 0; waitedMs < SETTLE_MS && !media.readPlayers().isSettled; waitedMs += LOOK_MS)
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  return judgeMedia(media.readPlayers(), media.keyAbsence());
}

/** Pure. `keyAbsence`: why no media key can be pressed; null when one can. */
export function judgeMedia(snapshot: MediaSnapshot, keyAbsence: string | null): readonly Finding[] {
  const { absence, players, leftOut } = snapshot;
  const isNeeded = absence !== null;
  const keys: Finding =
    keyAbsence !== null
      ? { subject: 'keys', state: isNeeded ? 'no' : 'part', text: keyAbsence }
      : {
          subject: 'keys',
          state: 'ok',
          text: isNeeded ? 'media keys are pressed, since no player can be spoken to' : 'not needed',
        };
  if (absence !== null) return [{ subject: 'media', state: 'no', text: absence }, keys];
  const told = players.map(({ names: [name], isSilent, playback, cannot }) => {
    const limits = cannot.length === 0 ? '' : `, can't ${cannot.join(', ')}`;
    return `${name} (${isSilent ? 'does not answer' : playback}${limits})`;
  });
  const more = leftOut === 0 ? '' : ` and ${leftOut} more`;
  const list = told.length === 0 ? 'no player on it now' : `${told.join('; ')}${more}`;
  const areHeard = players.every(({ isSilent }) => !isSilent);
  return [
    { subject: 'media', state: areHeard ? 'ok' : 'part', text: `the session bus answers: ${list}` },
    keys,
  ];
}
