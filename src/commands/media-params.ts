/** The parameters of the media commands. */
import { checkParams, type Params } from '../params.ts';
import { type MediaAction, mediaParams, mediaValueParams } from '../wire/requests.ts';

export interface MediaParams {
  /** The player's name; undefined: the selected player. */
  readonly player: string | undefined;
  /** `seek`: seconds from the beginning of the track. `set_volume`: 0–100. undefined for all others. */
  readonly value: number | undefined;
}

/** Throws `missing_field`, `invalid_value`. */
export function checkMediaParams(action: MediaAction, params: Params): MediaParams {
  if (action === 'seek' || action === 'set_volume') {
    const { player, value } = checkParams(mediaValueParams[action], params);
    return { player, value };
  }
  return { player: checkParams(mediaParams, params).player, value: undefined };
}
