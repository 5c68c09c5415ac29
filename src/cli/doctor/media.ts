/** What `hostwire doctor` says of players and media keys. */
import type { MediaHost, MediaSnapshot } from '../../host/media.ts';
import type { Row } from './rows.ts';

/** What the first answers of all players are waited for. */
const SETTLE_MS = 1100;
const LOOK_MS = 20;

/** Who tells of players there, and how somebody who hears of none gets to hear of them. */
interface Teller {
  readonly name: string;
  readonly absent: string;
  readonly remedy: string;
}

const SESSION_BUS: Teller = {
  name: 'the session bus',
  absent: 'no session bus',
  remedy: 'run it as the user who sits at the machine, in a systemd user unit',
};
const WINDOWS: Teller = {
  name: 'Windows',
  absent: 'no media sessions',
  remedy: 'run it as the user who sits at the machine, on Windows 10 1809 or later',
};

export async function examineMedia(
  media: MediaHost | undefined,
  isEnabled: boolean,
  isWindows = false,
): Promise<readonly Row[]> {
  const section = 'media';
  if (!isEnabled)
    return [
      {
        section,
        state: 'partly',
        source: 'switched off',
        reason: 'features.enable_media is off',
        remedy: 'set features.enable_media to true',
      },
    ];
  if (media === undefined)
    return [
      { section, state: 'missing', source: 'none', reason: 'players are not known of on this platform' },
    ];
  media.watch();
  for (let waitedMs = 0; waitedMs < SETTLE_MS && !media.readPlayers().isSettled; waitedMs += LOOK_MS)
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  return judgeMedia(media.readPlayers(), media.keyAbsence(), isWindows ? WINDOWS : SESSION_BUS);
}

function judgeKeys(keyAbsence: string | null, isNeeded: boolean): Row {
  const section = 'keys';
  if (keyAbsence === null) {
    const source = isNeeded ? 'media keys are pressed, since no player can be spoken to' : 'not needed';
    return { section, state: 'ok', source };
  }
  return { section, state: isNeeded ? 'missing' : 'partly', source: 'no media keys', reason: keyAbsence };
}

/** Pure. `keyAbsence`: why no media key can be pressed; null when one can. */
export function judgeMedia(
  snapshot: MediaSnapshot,
  keyAbsence: string | null,
  teller = SESSION_BUS,
): readonly Row[] {
  const { absence, players, leftOut } = snapshot;
  const section = 'media';
  const keys = judgeKeys(keyAbsence, absence !== null);
  if (absence !== null)
    return [
      {
        section,
        state: 'missing',
        source: teller.absent,
        reason: absence,
        remedy: teller.remedy,
      },
      keys,
    ];
  const told = players.map(({ names: [name], isSilent, playback, cannot }) => {
    const limits = cannot.length === 0 ? '' : `, can't ${cannot.join(', ')}`;
    return `${name} (${isSilent ? 'does not answer' : playback}${limits})`;
  });
  const more = leftOut === 0 ? '' : ` and ${leftOut} more`;
  const list = told.length === 0 ? 'no player on it now' : `${told.join('; ')}${more}`;
  const source = `${teller.name} answers: ${list}`;
  return players.every(({ isSilent }) => !isSilent)
    ? [{ section, state: 'ok', source }, keys]
    : [{ section, state: 'partly', source, reason: 'a player does not answer' }, keys];
}
