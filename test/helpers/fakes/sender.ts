import type { Sender } from '#src/commands/command.js';

/** A client without the key. */
export const SENDER: Sender = { address: '192.0.2.1', isKeyed: false };
