/** The service's own payloads: whether it is up, and the API documents. */
import * as v from 'valibot';
import { LIST_KEYS_DOCS } from './keys.ts';
import type { DocsOf } from './operation-docs.ts';

/** Contains nothing about the machine, because anyone may request it. */
export const healthCheck = v.strictObject({ status: v.literal('ok') });

export const SERVICE_DOCS: DocsOf<
  'openAgent' | 'getStatus' | 'listKeys' | 'getOpenapi' | 'getAsyncapi' | 'getMetrics'
> = {
  openAgent: {
    summary: 'Where hubs connect to this machine',
    description:
      'For `hostwire hub`, not for clients: the WebSocket speaks the protocol of docs/hub-protocol.md, and each question and command on it needs the scope of its own operation. A request with an `Origin` is refused, at most 16 hubs are taken, and any request but an upgrade is answered with 426 `upgrade_required`.',
    isUpgrade: true,
    payloads: [],
    errors: ['upgrade_required', 'too_many_streams', 'shutting_down'],
    example: { options: '-i' },
  },
  getStatus: {
    summary: 'Whether the service is up',
    description: 'Open to every address that is not blocked. Says nothing about the machine.',
    payloads: [healthCheck],
    errors: [],
  },
  listKeys: LIST_KEYS_DOCS,
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
  getMetrics: {
    summary: 'Metrics for Prometheus',
    description:
      'Counters and gauges with the names, labels and units of node_exporter, and `hostwire_*` for the rest (docs/metrics.md). `Accept` chooses between the text format 0.0.4 and OpenMetrics 1.0, `Accept-Encoding` gzip. A reading answers all scrapes within 0.9 s, so one scrape each second gets a new one.',
    payloads: [],
    textTypes: ['text/plain', 'application/openmetrics-text'],
    errors: [],
  },
};
