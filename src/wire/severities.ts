/** The words of events: what they are of, and how urgent they are. The hub loads them, and no payload schema. */

export const EVENT_KINDS = ['rule', 'machine', 'access', 'storage'] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

/** How urgent an event is, in rising order. */
export const SEVERITIES = ['info', 'warning', 'critical'] as const;
export type Severity = (typeof SEVERITIES)[number];
