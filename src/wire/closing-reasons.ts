/** Why a service closes its sockets. In its own file, because a hub loads it and no schema of a payload. */

export const CLOSING_REASONS = ['sleep', 'hibernate', 'shutdown', 'restart', 'stop'] as const;
export type ClosingReason = (typeof CLOSING_REASONS)[number];
