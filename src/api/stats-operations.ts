/** The operations that tell of the machine. */
import { system, systemDetail } from '../wire/system.ts';
import { usage, usageDetail } from '../wire/usage.ts';
import type { Operations } from './operation.ts';
import { DETAIL, FIELDS } from './parameters.ts';

const usagePayloads = [usage, usageDetail];

export const STATS_OPERATIONS: Operations = {
  '/api/usage': {
    GET: {
      id: 'getUsage',
      tag: 'stats',
      summary: 'The machine as it is now',
      description:
        'One payload of the stream: the latest sample if it is younger than a second, else a fresh one.',
      parameters: [FIELDS, DETAIL],
      payloads: usagePayloads,
      headers: ['X-Ignored-Fields'],
      errors: [],
    },
  },
  '/api/stream': {
    GET: {
      id: 'openStream',
      tag: 'stats',
      summary: 'The machine, live, as Server-Sent Events',
      description:
        'One message at once, then one every stats.stream_interval_seconds. Each is one line `data: <JSON>` and a blank line; the JSON is what /api/usage answers. After 15 s of silence comes a comment, `:`. Never a 4xx for a parameter. The AsyncAPI document describes the messages.',
      parameters: [FIELDS, DETAIL],
      payloads: usagePayloads,
      isStream: true,
      headers: ['X-Ignored-Fields'],
      errors: ['too_many_streams'],
    },
  },
  '/api/system': {
    GET: {
      id: 'getSystem',
      tag: 'stats',
      summary: 'What the machine is made of',
      parameters: [DETAIL],
      payloads: [system, systemDetail],
      errors: [],
    },
  },
  '/api/ws': {
    GET: {
      id: 'openSocket',
      tag: 'stats',
      summary: 'The WebSocket API: subscriptions, commands and feedback',
      description:
        'To be asked for with an upgrade; without one the answer is 426. The key may be in the query, as `api_key`. The AsyncAPI document describes the messages.',
      upgrades: true,
      payloads: [],
      errors: ['upgrade_required', 'too_many_streams'],
    },
  },
};
