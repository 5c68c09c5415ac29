/** Events on the wire: what began and ended at a machine, for GET /api/events, the topic `events` and notifications. */
import * as v from 'valibot';
import { processUses } from './history.ts';
import { means } from './meaning.ts';
import type { DocsOf } from './operation-docs.ts';
import { count, exactUnixSeconds, known, type Shape, unixSeconds } from './quantities.ts';
import { eventsRequest, muteRequest } from './requests.ts';
import { EVENT_KINDS, SEVERITIES } from './severities.ts';

export const machineEvent = v.strictObject({
  id: means(count, 'Number of the event, which only grows, also over restarts where `history.path` is set.'),
  machine: means(
    v.string(),
    'Id of the machine: at a hub the one that it has there; `connected` has that of a service.',
  ),
  kind: means(
    v.picklist(EVENT_KINDS),
    'rule: of `watch.rules`, or one that ships ready; machine: it crashed or was restarted, at a hub also that it is down, asleep or off; access: many requests with a wrong key; storage: the history cannot be written.',
  ),
  subject: means(
    v.string(),
    'What the event is about: `RULE SERIES` of a rule, otherwise one of `crashed`, `restarted`, `wrong_keys`, `history`, at a hub `down`, `asleep`, `off`. Begin and end have the same.',
  ),
  severity: means(v.picklist(SEVERITIES), 'How urgent it is.'),
  state: means(v.picklist(['begin', 'end']), 'It began or ended.'),
  begin: means(exactUnixSeconds, 'When it began.'),
  end: means(known(exactUnixSeconds), 'When it ended; null while it lasts.'),
  value: means(known(v.number()), 'The value at that moment; null where there is none.'),
  limit: means(known(v.number()), 'The limit of the rule; null where there is none.'),
  text: means(v.string(), 'A sentence for people: "Disk /srv/media is 91 % full, limit 90 %".'),
  processes: means(
    v.exactOptional(known(processUses)),
    'The cause: the programs that used most then; absent for a key without the scope `processes`.',
  ),
});
export type MachineEvent = Shape<typeof machineEvent>;

export const mute = v.strictObject({
  what: means(v.string(), 'The rule, the subject of another event, or the id of the machine.'),
  until: means(unixSeconds, 'When it ends.'),
  reason: means(v.string(), 'As given; may be empty.'),
});
export type Mute = Shape<typeof mute>;

export const muteList = v.strictObject({
  mutes: means(
    v.array(mute),
    'Rules and machines whose events are not sent to people, the next one to end first.',
  ),
});
export type MuteList = Shape<typeof muteList>;

export const eventList = v.strictObject({
  last: means(count, 'Number of the newest event: `since` of the next request.'),
  missing: means(
    v.boolean(),
    'Events after `since` are no longer kept, or its number is from another service.',
  ),
  open: means(v.array(machineEvent), 'Events that last, oldest first.'),
  ...muteList.entries,
  events: means(v.array(machineEvent), 'Events after `since`, in order; the newest `limit` of them.'),
});
export type EventList = Shape<typeof eventList>;

export const EVENTS_DOCS: DocsOf<'listEvents' | 'muteEvents'> = {
  listEvents: {
    summary: 'What began and ended: alarms of rules',
    description:
      'With `Accept: text/event-stream` a stream: each event has its `id:`, and a client that connects again with `Last-Event-ID` (or `since`) has the events that it missed, once. Without it the stream begins with the events that last. An `event: missing` says that some are no longer kept. Otherwise JSON. The newest 1,000 events are kept.',
    query: eventsRequest,
    payloads: [eventList],
    errors: ['invalid_value', 'too_many_streams'],
  },
  muteEvents: {
    summary: 'Send no events of a rule or a machine for some time',
    description:
      'They are still recorded and listed. What still lasts when the time is over is sent then. With `history.path`, at a hub with `hub.state_path`, a restart changes nothing. An unknown name is answered with 404 `not_found`.',
    body: muteRequest,
    payloads: [muteList],
    errors: ['missing_field', 'invalid_value', 'not_found', 'not_possible_now'],
    example: { body: { what: 'disk-full', seconds: 7200, reason: 'moving files' } },
  },
};
