/** The service's own payloads: whether it is up, what the client may do, and the API documents. */
import * as v from 'valibot';
import { SCOPES } from '../scopes.ts';
import { LIST_KEYS_DOCS } from './keys.ts';
import { means } from './meaning.ts';
import type { DocsOf } from './operation-docs.ts';
import { type Shape, unixSeconds } from './quantities.ts';

/** Contains nothing about the machine, because anyone may request it. */
export const healthCheck = v.strictObject({ status: v.literal('ok') });

export const clientAccess = v.strictObject({
  key: means(
    v.nullable(v.string()),
    'The name of the key: `default` for `auth.api_key`; null: the client sent none, or one that is not valid.',
  ),
  scopes: means(
    v.array(v.picklist(SCOPES)),
    'The scopes of the key, or of `auth.guests` without one; `admin`: everything.',
  ),
  expires: means(v.nullable(unixSeconds), 'When the key expires; null: never.'),
});
export type ClientAccess = Shape<typeof clientAccess>;

export const SERVICE_DOCS: DocsOf<'getStatus' | 'getAccess' | 'listKeys' | 'getOpenapi' | 'getMetrics'> = {
  getStatus: {
    summary: 'Whether the service is up',
    description: 'Open to every address that is not blocked. Reveals nothing about the machine.',
    payloads: [healthCheck],
    errors: [],
  },
  listKeys: LIST_KEYS_DOCS,
  getAccess: {
    summary: 'What the client may do',
    description:
      'Needs no scope. A valid key is enough, or none where the client is let in without one. Programs that offer commands can find out here which of them the key allows (docs/keys.md).',
    payloads: [clientAccess],
    errors: [],
  },
  getOpenapi: {
    summary: 'The OpenAPI document',
    description: 'Describes every operation of this page for programs (OpenAPI 3.1).',
    payloads: [],
    headers: ['ETag'],
    errors: [],
  },
  getMetrics: {
    summary: 'Metrics for Prometheus',
    description:
      'Counters and gauges with the names, labels and units of node_exporter, and `hostwire_*` for the rest (docs/metrics.md). `Accept` chooses between the text format 0.0.4 and OpenMetrics 1.0, `Accept-Encoding` gzip. Scrapes within 0.9 s share a reading, so one scrape per second always gets a new one.',
    payloads: [],
    textTypes: ['text/plain', 'application/openmetrics-text'],
    errors: [],
  },
};
