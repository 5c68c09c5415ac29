/** What the service says about itself: whether it is up, and the API documents. */
import * as v from 'valibot';
import type { DocsOf } from './operation-docs.ts';

/** Says nothing about the machine, because anyone may ask. */
export const healthCheck = v.strictObject({ status: v.literal('ok') });

export const SERVICE_DOCS: DocsOf<'getStatus' | 'getOpenapi' | 'getAsyncapi'> = {
  getStatus: {
    summary: 'Whether the service is up',
    description: 'Open to every address that is not blocked. Says nothing about the machine.',
    payloads: [healthCheck],
    errors: [],
  },
  getOpenapi: {
    summary: 'The OpenAPI document',
    description: 'Describes every operation of this page for programs (OpenAPI 3.1).',
    payloads: [],
    headers: ['ETag'],
    errors: [],
  },
  getAsyncapi: {
    summary: 'The AsyncAPI document',
    description: 'Describes the messages of `/api/stream` and `/api/ws` for programs (AsyncAPI 3.0).',
    payloads: [],
    headers: ['ETag'],
    errors: [],
  },
};
