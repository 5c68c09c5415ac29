/** States of a machine at a hub. In its own file, because the hub loads it and no payload schema. */

export const HOST_STATES = ['up', 'asleep', 'off', 'down', 'refused', 'unknown'] as const;
