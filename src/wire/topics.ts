/**
 * The topics of /api/ws beside stats, one row per topic: the event that carries it, and the schema of its payload. The
 * service loads only its types; how each topic is read is a row of src/viewers/socket/topic-state.ts.
 */
import * as v from 'valibot';
import { machineEvent } from './events.ts';
import { mediaDetail, mediaStatus } from './media.ts';
import { powerPayload } from './power.ts';
import { processListPayload } from './process.ts';
import type { Shape } from './quantities.ts';

interface TopicRow {
  readonly event: string;
  readonly payload: v.GenericSchema;
}

export const TOPICS = {
  media: {
    event: 'media_update',
    payload: v.union([mediaStatus, mediaDetail]),
  },
  processes: { event: 'process_list', payload: processListPayload },
  power: { event: 'power_update', payload: powerPayload },
} as const satisfies Readonly<Record<string, TopicRow>>;

/** The topic without a state: each event is sent once, when it happens. */
export const EVENTS_TOPIC = {
  event: 'event',
  payload: machineEvent,
} as const satisfies TopicRow;

export type TopicName = keyof typeof TOPICS;
export type TopicEvent<N extends TopicName = TopicName> = (typeof TOPICS)[N]['event'];
export type TopicPayload<N extends TopicName = TopicName> = Shape<(typeof TOPICS)[N]['payload']>;

/** The payload of each topic, by its event. */
export type TopicEvents = { readonly [N in TopicName as TopicEvent<N>]: TopicPayload<N> };

type TopicSchemas = { readonly [N in TopicName as TopicEvent<N>]: (typeof TOPICS)[N]['payload'] };

/** The schema of each topic's payload, by its event. */
// Object.fromEntries cannot express which schema belongs to which event.
export const TOPIC_SCHEMAS = Object.fromEntries(
  Object.values(TOPICS).map(({ event, payload }) => [event, payload]),
) as unknown as TopicSchemas;
