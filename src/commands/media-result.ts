/** The result of a media command, and the media key as the last resort. */
import { messageOf, ServiceError } from '../errors.ts';
import { MEDIA_KEYS, type MediaHost, type MediaVerb } from '../host/media.ts';
import type { MediaAction } from '../wire/requests.ts';
import type { Delivered } from './command.ts';

/** `error`: for the actions that do not always reply ok. */
export interface Result {
  readonly delivered: Delivered;
  readonly error?: ServiceError;
  /** The player has answered that it did it, so the reply is ok. */
  readonly isAccepted?: true;
}

export function refused(
  code: 'not_supported' | 'not_possible_now' | 'action_failed',
  action: MediaAction,
  reason: string,
): Result {
  const sentence = {
    not_supported: `The action ${action} is not supported on this machine.`,
    not_possible_now: `The action ${action} is not possible now.`,
    action_failed: `The action ${action} failed.`,
  }[code];
  return { delivered: 'false', error: new ServiceError(code, sentence, { reason }) };
}

/** The last resort: whether any program acts on the key cannot be determined. */
export async function pressKey(
  host: MediaHost,
  verb: MediaVerb,
  action: MediaAction,
  absence: string,
): Promise<Result> {
  const key = MEDIA_KEYS.find((each) => each === verb);
  if (key === undefined) return refused('not_supported', action, `${absence}; no media key does this`);
  const keyAbsence = host.keyAbsence();
  if (keyAbsence !== null) return refused('not_supported', action, `${absence}; ${keyAbsence}`);
  try {
    await host.pressKey(key);
    return { delivered: 'unknown' };
  } catch (error) {
    return refused('action_failed', action, messageOf(error));
  }
}
