/** What a media command may be given. */
import { ServiceError } from '../errors.ts';
import type { Params } from './command.ts';

/** The contract's four, then those beyond it. */
export const MEDIA_ACTIONS = [
  'play',
  'pause',
  'next',
  'prev',
  'play_pause',
  'stop',
  'previous',
  'seek',
  'set_volume',
  'volume_up',
  'volume_down',
] as const;
export type MediaAction = (typeof MEDIA_ACTIONS)[number];

export interface MediaParams {
  /** The player's name; undefined: the one that is meant without. */
  readonly player: string | undefined;
  /** `seek`: seconds from the beginning of the track. `set_volume`: 0–100. undefined for all others. */
  readonly value: number | undefined;
}

/** About three years: longer than any track, and its microseconds still are exact. */
const MOST_SEEK_SECONDS = 1e8;

const RANGES: ReadonlyMap<MediaAction, { readonly most: number; readonly unit: string }> = new Map([
  ['seek', { most: MOST_SEEK_SECONDS, unit: 'seconds' }],
  ['set_volume', { most: 100, unit: 'percent' }],
]);

/** The name in `player`; undefined without one. Throws `invalid_value`. */
export function checkPlayer(player: unknown): string | undefined {
  if (player === undefined) return undefined;
  if (typeof player !== 'string' || player === '')
    throw new ServiceError('invalid_value', 'The player must be named by a string.');
  return player;
}

/** Throws `missing_field`, `invalid_value`. */
export function checkMediaParams(action: MediaAction, params: Params): MediaParams {
  const player = checkPlayer(params['player']);
  const range = RANGES.get(action);
  if (range === undefined) return { player, value: undefined };
  const { value } = params;
  const sentence = `The value must be a number of ${range.unit} from 0 to ${range.most}.`;
  if (value === undefined) throw new ServiceError('missing_field', `There must be a value. ${sentence}`);
  // Written so that NaN fails.
  if (!(typeof value === 'number' && value >= 0 && value <= range.most))
    throw new ServiceError('invalid_value', sentence);
  return { player, value };
}
