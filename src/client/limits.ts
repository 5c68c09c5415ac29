/** Limits on what a server sends: they bound the memory that it can make a program use. */

/**
 * Maximum size of an answer, an event of a stream or a message of a socket, in bytes or UTF-16 units: more than a hub
 * sends of a thousand machines with some 10 KiB of detail each.
 */
export const MAX_ANSWER = 16 * 1024 * 1024;

/** Overhead of a piece in the text that it becomes part of, beside its characters. */
export const PIECE_BYTES = 32;

/** For the package ws, whose own limits are 100 MiB and 16,384 fragments, each of which may keep a read of 64 KiB. */
export const MESSAGE_LIMITS = { maxPayload: MAX_ANSWER, maxFragments: 1024 } as const;
