/** GET /metrics, for Prometheus. What makes the answer is loaded with the first scrape. */

import type { Metrics, MetricsDeps } from '../../exporters/prometheus/metrics.ts';
import { ALL_SECTIONS, SECTION_BITS } from '../../host/host.ts';
import { entriesOf } from '../../http/etag.ts';
import { statusLine } from '../../http/reply.ts';
import type { Runs } from '../../http/routes.ts';
import { DETAIL_BITS, type Needs } from '../../stats/needs.ts';

/** The request headers that choose the form of the answer. */
export const METRICS_HEADERS: readonly string[] = ['accept', 'accept-encoding'];

const devices: Needs = {
  sections: SECTION_BITS.cpu | SECTION_BITS.gpu | SECTION_BITS.disks,
  withDetail: true,
  details: DETAIL_BITS.sensors | DETAIL_BITS.batteries,
};
const NEEDS = { devices, everything: { ...devices, sections: ALL_SECTIONS } };

// It imports no module of the service: the bundler would make a part of each that both use.
async function openMetrics(deps: MetricsDeps): Promise<Metrics> {
  const { Metrics } = await import('../../exporters/prometheus/metrics.ts');
  return new Metrics({ ...deps, needs: NEEDS });
}

export function metricsRuns(deps: MetricsDeps): Runs<'getMetrics'> {
  let opened: Promise<Metrics> | undefined;
  return {
    async getMetrics({ exchange, headers }) {
      opened ??= openMetrics(deps);
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
