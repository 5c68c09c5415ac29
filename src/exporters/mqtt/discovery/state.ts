/** The messages that the entities read: one per interval, and those of media and power, which are sent immediately. */
import type { Picture } from '../../../commands/media-art.ts';
import type { MediaDetail } from '../../../wire/media.ts';
import type { PowerPayload } from '../../../wire/power.ts';
import { type MEDIA_STATES, NO_ACTION } from './controls.ts';
import type { Entity } from './entity.ts';
import { extraValues, machineEntities, type Reading } from './machine.ts';
import { problemEntities } from './problems.ts';
import { thingEntities } from './things.ts';

export const entitiesIn = (reading: Reading): readonly Entity[] => [
  ...machineEntities(reading),
  ...thingEntities(reading.sample),
  ...problemEntities(reading.problems),
];

/**
 * The values by component id, in the units of GET /api/usage?detail=1. What is not known at present is left out: the
 * templates make None of it.
 */
export function stateMessage(reading: Reading): string {
  const values = entitiesIn(reading).map(({ id, value }) => [id, value] as const);
  const known = [...values, ...Object.entries(extraValues(reading))].filter(([, value]) => value !== null);
  return JSON.stringify(Object.fromEntries(known));
}

/** Home Assistant refuses a longer state. It counts characters, not UTF-16 units. */
const MAX_STATE = 255;

const short = (text: string | null) =>
  text === null || text === '' ? null : [...text].slice(0, MAX_STATE).join('');

function mediaState({ playback, status }: MediaDetail): (typeof MEDIA_STATES)[number] {
  if (playback !== 'stopped') return playback;
  return status === 'stopped' ? 'stopped' : 'idle';
}

/** `idle`: there is a player, and it does not play. Without a player all else is null. */
export function mediaMessage(status: MediaDetail): string {
  const { volume, muted, position, duration, playing, player, players } = status;
  return JSON.stringify({
    state: mediaState(status),
    playing,
    title: short(status.title),
    artist: short(status.artist),
    album: short(status.album),
    player,
    players,
    // Some players go beyond 100, which Home Assistant would refuse.
    volume: volume === null ? null : Math.min(100, Math.max(0, Math.round(volume))),
    muted,
    position: position === null ? null : Math.max(0, Math.round(position)),
    duration: duration === null ? null : Math.round(duration),
  });
}

/** A message only of what `GET /api/pw` reports as scheduled. */
export function powerMessage({ pending }: Pick<PowerPayload, 'pending'>): string {
  return JSON.stringify({
    pending: pending?.action ?? NO_ACTION,
    pending_at: pending === null ? null : new Date(pending.at * 1000).toISOString(),
  });
}

/** A GIF of one transparent pixel: Home Assistant shows an empty message as a broken picture. */
const NO_PICTURE = 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';

/** The cover in base64; undefined without one. */
export const artMessage = (picture: Pick<Picture, 'bytes'> | undefined): string =>
  picture?.bytes.toString('base64') ?? NO_PICTURE;
