/** Every operation of HTTP, in words: what the OpenAPI document says beside the schemas. A row a path and method. */
import type * as v from 'valibot';
import type { ErrorCode } from '../errors.ts';
import { healthCheck } from '../wire/errors.ts';
import { mediaDetail, mediaResult, mediaStatus } from '../wire/media.ts';
import { powerPayload, powerResult } from '../wire/power.ts';
import { processDetailsPayload, processFeedback, processListPayload } from '../wire/process.ts';
import {
  mediaParams,
  POWER_ACTIONS,
  powerParams,
  processKillRequest,
  processListRequest,
} from '../wire/requests.ts';
import { system, systemDetail } from '../wire/system.ts';
import { usage, usageDetail } from '../wire/usage.ts';
import { DETAIL, FIELDS, type Parameter, PROCESS_NAME } from './parameters.ts';
import { COMPONENTS } from './schemas.ts';

export type Tag = 'stats' | 'power' | 'media' | 'processes' | 'service';

export interface Operation {
  readonly id: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly description?: string;
  /** May change more than the rest. */
  readonly isExperimental?: true;
  /** No key is asked for. */
  readonly isPublic?: true;
  /** The flag of the configuration that allows it. */
  readonly feature?: string;
  readonly parameters?: readonly Parameter[];
  /** Its entries are parameters of the query. */
  readonly query?: { readonly entries: v.ObjectEntries };
  readonly body?: v.GenericSchema;
  /** A body of any kind is read and not looked at. */
  readonly ignoresBody?: true;
  /** What a 200 carries: with detail it is the second one. */
  readonly payloads: readonly v.GenericSchema[];
  /** Answered with 101 where it is asked for with an upgrade. */
  readonly upgrades?: true;
  /** Instead of JSON. */
  readonly mediaType?: string;
  readonly headers?: readonly ('X-Ignored-Fields' | 'X-Media-Delivered' | 'ETag')[];
  /** Those that not every operation has. */
  readonly errors: readonly ErrorCode[];
}

type Methods = Readonly<Partial<Record<'GET' | 'POST', Operation>>>;

const usagePayloads = [usage, usageDetail];

const stats: Readonly<Record<string, Methods>> = {
  '/api/status': {
    GET: {
      id: 'getStatus',
      tag: 'service',
      summary: 'Whether the service is up',
      description: 'Open to everyone whose address is not blocked. Says nothing about the machine.',
      isPublic: true,
      payloads: [healthCheck],
      errors: [],
    },
  },
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
      mediaType: 'text/event-stream',
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

const documents: Readonly<Record<string, Methods>> = {
  '/api/openapi.json': {
    GET: {
      id: 'getOpenapi',
      tag: 'service',
      summary: 'This document',
      payloads: [],
      headers: ['ETag'],
      errors: [],
    },
  },
  '/api/asyncapi.json': {
    GET: {
      id: 'getAsyncapi',
      tag: 'service',
      summary: 'The messages of /api/stream and /api/ws',
      payloads: [],
      headers: ['ETag'],
      errors: [],
    },
  },
};

const powerSummaries: Readonly<Record<(typeof POWER_ACTIONS)[number], string>> = {
  shutdown: 'Shut the machine down',
  restart: 'Restart the machine',
  sleep: 'Put the machine to sleep',
  hibernate: 'Hibernate the machine',
  lock: 'Lock the session',
};

function powerOperation(action: (typeof POWER_ACTIONS)[number]): Operation {
  return {
    id: action,
    tag: 'power',
    summary: powerSummaries[action],
    description:
      "The answer leaves before the act. A body is read and ignored. 501 says why the machine can't do it, 409 who holds it up; `force` overrides that.",
    feature: `enable_${action === 'lock' ? 'sleep' : action}`,
    query: powerParams,
    ignoresBody: true,
    payloads: [powerResult],
    errors: ['invalid_value', 'power_pending', 'not_possible_now', 'not_supported'],
  };
}

const power: Readonly<Record<string, Methods>> = {
  '/api/pw': {
    GET: {
      id: 'getPower',
      tag: 'power',
      summary: 'What the machine can be told, and what is scheduled',
      payloads: [powerPayload],
      errors: [],
    },
  },
  ...Object.fromEntries(
    POWER_ACTIONS.map((action): [string, Methods] => [`/api/pw/${action}`, { POST: powerOperation(action) }]),
  ),
  '/api/pw/cancel': {
    POST: {
      id: 'cancelPower',
      tag: 'power',
      summary: 'Take back what was scheduled with a delay',
      description: 'Nothing pending is a success as well.',
      ignoresBody: true,
      payloads: [powerResult],
      errors: [],
    },
  },
};

const media: Readonly<Record<string, Methods>> = {
  '/api/media/status': {
    GET: {
      id: 'getMedia',
      tag: 'media',
      summary: 'What is playing',
      isExperimental: true,
      feature: 'enable_media',
      parameters: [DETAIL],
      query: mediaParams,
      payloads: [mediaStatus, mediaDetail],
      errors: ['invalid_value', 'player_not_found'],
    },
  },
  '/api/media/art': {
    GET: {
      id: 'getMediaArt',
      tag: 'media',
      summary: 'The picture of what is playing',
      description:
        'Where the player says that it is a file of this machine: a PNG, JPEG, GIF or WebP of at most 1 MiB. Pictures of other sites are not fetched.',
      isExperimental: true,
      feature: 'enable_media',
      query: mediaParams,
      payloads: [],
      mediaType: 'image/*',
      errors: ['invalid_value', 'not_found', 'player_not_found', 'not_possible_now'],
    },
  },
  '/api/media/control': {
    POST: {
      id: 'controlMedia',
      tag: 'media',
      summary: 'Tell a player what to do',
      description:
        'play, pause, next and prev are answered with 200 whenever they are understood: X-Media-Delivered says whether a player took them. The others fail honestly.',
      isExperimental: true,
      feature: 'enable_media',
      query: mediaParams,
      body: COMPONENTS.MediaCommand,
      payloads: [mediaResult],
      headers: ['X-Media-Delivered'],
      errors: [
        'missing_field',
        'invalid_value',
        'unknown_action',
        'player_not_found',
        'not_possible_now',
        'action_failed',
        'not_supported',
      ],
    },
  },
};

const processes: Readonly<Record<string, Methods>> = {
  '/api/processes': {
    GET: {
      id: 'listProcesses',
      tag: 'processes',
      summary: 'The processes, by name or one by one',
      feature: 'enable_processes',
      query: processListRequest,
      payloads: [processListPayload],
      errors: ['invalid_value', 'not_possible_now', 'not_supported'],
    },
  },
  '/api/processes/*': {
    GET: {
      id: 'getProcess',
      tag: 'processes',
      summary: 'All processes of a name, or the one of a number',
      feature: 'enable_processes',
      parameters: [PROCESS_NAME],
      payloads: [processDetailsPayload],
      errors: ['invalid_value', 'process_not_found', 'not_possible_now', 'not_supported'],
    },
  },
  '/api/processes/kill': {
    POST: {
      id: 'killProcess',
      tag: 'processes',
      summary: 'End processes',
      description: 'Answered when they have ended.',
      feature: 'enable_process_control',
      body: processKillRequest,
      payloads: [processFeedback],
      errors: [
        'missing_field',
        'invalid_value',
        'process_not_found',
        'process_changed',
        'not_possible_now',
        'action_failed',
        'not_supported',
      ],
    },
  },
};

/** By the path of the route table, then by method. */
export const OPERATIONS: Readonly<Record<string, Methods>> = {
  ...stats,
  ...power,
  ...media,
  ...processes,
  ...documents,
};
