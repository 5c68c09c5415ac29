/** Whether a hub reaches a machine. In a file of its own, because the hub loads it and no schema of what it sends. */

export const HOST_STATES = ['up', 'down', 'refused'] as const;
