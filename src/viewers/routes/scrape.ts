/** GET /metrics, for Prometheus. What makes the answer is loaded with the first scrape. */

import type { Metrics, MetricsDeps } from '../../exporters/prometheus/metrics.ts';
import { entriesOf } from '../../http/etag.ts';
import { statusLine } from '../../http/reply.ts';
import type { Runs } from '../../http/routes.ts';

/** The request headers that choose the form of the answer. */
export const METRICS_HEADERS: readonly string[] = ['accept', 'accept-encoding'];

export function metricsRuns(deps: MetricsDeps): Runs<'getMetrics'> {
  let opened: Promise<Metrics> | undefined;
  return {
    async getMetrics({ exchange, headers }) {
      opened ??= import('../../exporters/prometheus/metrics.ts').then(({ Metrics }) => new Metrics(deps));
      const given = exchange.head.headers;
      const metrics = await opened;
      const { type, isGzip, body } = await metrics.scrape(
        entriesOf(given, 'accept'),
        entriesOf(given, 'accept-encoding'),
      );
      return {
        status: statusLine(200),
        headers: [
          ['Content-Type', type],
          ['Cache-Control', 'no-store'],
          ['Vary', 'Accept, Accept-Encoding'],
          ...(isGzip ? [['Content-Encoding', 'gzip'] as const] : []),
          ...headers,
        ],
        body,
      };
    },
  };
}
