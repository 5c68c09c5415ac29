/** The messages that a hub sends over its WebSockets. It loads only their types; tests check messages with the schemas. */
import * as v from 'valibot';
import { fleetEvent, hostCondition, hostList } from './hub.ts';
import { HUB_ERROR_CODES } from './hub-socket.ts';
import { means } from './meaning.ts';
import { EVENTS, errorCode, feedbackCode } from './socket-events.ts';

const code = means(
  v.exactOptional(v.picklist([...feedbackCode.options, 'OUTCOME_UNKNOWN'])),
  'Why it failed. OUTCOME_UNKNOWN: it was sent; whether it was carried out is unknown.',
);

/** Each type of message with its `data`. */
export const HUB_EVENTS = {
  ...EVENTS,
  media_feedback: v.strictObject({ ...EVENTS.media_feedback.entries, code }),
  process_feedback: v.strictObject({ ...EVENTS.process_feedback.entries, code }),
  power_feedback: v.strictObject({ ...EVENTS.power_feedback.entries, code }),
  wake_feedback: v.strictObject({ ...EVENTS.wake_feedback.entries, code }),
  error: v.strictObject({
    ...EVENTS.error.entries,
    code: v.picklist([...errorCode.options, ...HUB_ERROR_CODES]),
  }),
  host: v.strictObject(hostCondition),
  hosts: hostList,
  fleet: fleetEvent,
} as const;
