/** Why a hub closes the connection of an agent: the reasons of its close frames, and what they mean to the agent. */

import { WrongPin } from '../../../socket/peer-socket.ts';
import { isCertificateError, SOCKET_ERRORS } from '../../../socket-errors.ts';

export const ENDINGS = {
  refused: 'the id or its key is not one of hub.agents',
  taken: 'another machine has this id',
  replaced: 'a newer connection of this agent has taken its place',
  silent: 'the agent has fallen silent',
  slow: 'the proof took too long',
  crowded: 'too many others prove themselves now',
  malformed: 'a message is malformed',
  flood: 'the agent sends more than the hub takes',
  removed: 'the entry in hub.agents has changed',
  barred: 'the hub no longer takes the address of this machine',
  closing: 'the hub is shutting down',
} as const;

export type EndingName = keyof typeof ENDINGS;

/** A text of the other side goes into the log only if it is one of these. */
const KNOWN: ReadonlySet<string> = new Set(Object.values(ENDINGS));
/** Attempts that are refused are counted by the hub, also those of others at the same address. */
const REFUSED_MS = 15_000;
/** The hub takes an agent again after 2 s; what made it send too much may last. */
const FLOOD_MS = 15_000;

export function whyClosed(code: number, reason: string): string {
  if (KNOWN.has(reason)) return `the hub says: ${reason}`;
  return code === 1006 ? 'the connection was lost' : `the hub closed the connection (${code})`;
}

export function pauseAfter(reason: string): number {
  if (reason === ENDINGS.refused) return REFUSED_MS;
  return reason === ENDINGS.flood ? FLOOD_MS : 0;
}

const STATUS: Readonly<Record<number, string>> = {
  401: 'the server at this URL does not accept machines, or a proxy requires a key (401)',
  403: 'the hub does not allow the address of this machine (403)',
  404: 'the server at this URL does not accept machines (404)',
  429: 'too many failed attempts from the address of this machine (429)',
  503: 'the hub has no room for more connections (503)',
};

export const whyNotUpgraded = (status: number): string =>
  STATUS[status] ?? `the server at this URL does not accept machines (${status})`;

/** `error`: of the socket. */
export function whyFailed(error: Error): string {
  const code = 'code' in error ? String(error.code) : '';
  if (error instanceof WrongPin) return `${error.message}, not the one in hub.pin`;
  if (isCertificateError(code)) return `its certificate is not trusted (${code}); set hub.pin`;
  return SOCKET_ERRORS[code] ?? `the connection failed: ${code === '' ? error.message.slice(0, 200) : code}`;
}
