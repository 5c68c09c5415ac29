/** Every operation of HTTP: a row a path and method. */
import { healthCheck } from '../wire/errors.ts';
import { MEDIA_OPERATIONS } from './media-operations.ts';
import type { Operations } from './operation.ts';
import { POWER_OPERATIONS } from './power-operations.ts';
import { PROCESS_OPERATIONS } from './process-operations.ts';
import { STATS_OPERATIONS } from './stats-operations.ts';

const service: Operations = {
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

export const OPERATIONS: Operations = {
  ...STATS_OPERATIONS,
  ...POWER_OPERATIONS,
  ...MEDIA_OPERATIONS,
  ...PROCESS_OPERATIONS,
  ...service,
};
