/** A running Prometheus scrapes the service with its key; what Grafana's dashboard 1860 asks for in its open rows is there. */
import t from 'tap';
import { serveProgram } from '../../helpers/service/service.ts';
import { until } from '../../helpers/until.ts';
import { jobOf, startPrometheus, whyNo } from '../programs.ts';

const KEY = 'the-key-of-this-scrape';

/** The metrics of its open rows, and of its variables. */
const QUERIES = [
  'node_uname_info{nodename!=""}',
  'node_time_seconds - node_boot_time_seconds',
  'sum by (mode) (rate(node_cpu_seconds_total[10s]))',
  'node_load1',
  'rate(node_pressure_cpu_waiting_seconds_total[10s])',
  'rate(node_pressure_memory_waiting_seconds_total[10s])',
  'rate(node_pressure_io_waiting_seconds_total[10s])',
  '1 - node_memory_MemAvailable_bytes / node_memory_MemTotal_bytes',
  'node_memory_MemFree_bytes + node_memory_Buffers_bytes + node_memory_Cached_bytes + node_memory_SReclaimable_bytes',
  'node_memory_SwapTotal_bytes - node_memory_SwapFree_bytes',
  '100 - node_filesystem_avail_bytes{mountpoint="/",fstype!="rootfs"} * 100 / node_filesystem_size_bytes',
  'rate(node_network_receive_bytes_total[10s]) * 8',
  'rate(node_network_transmit_bytes_total[10s]) * 8',
  'rate(node_disk_reads_completed_total[10s])',
  'rate(node_disk_io_time_seconds_total[10s])',
  'rate(node_context_switches_total[10s])',
  'hostwire_build_info',
];

t.test(
  '[3.metrics-prometheus] Prometheus scrapes OpenMetrics with the key, and answers the dashboard',
  { skip: whyNo('prometheus') },
  async (t) => {
    const service = await serveProgram(t, { config: { auth: { enabled: true, api_key: KEY } } });
    const more = { authorization: { credentials: KEY } };
    const { ask, query, targets } = await startPrometheus(t, jobOf([new URL(service.baseUrl).host], more));
    let empty: readonly string[] = [];
    await until(
      async () => {
        const answers = await Promise.all(QUERIES.map(query));
        empty = QUERIES.filter((_text, at) => answers[at]?.length === 0);
        return empty.length === 0;
      },
      () => `no answer to ${empty.join()}`,
    );
    t.match(await targets(), [{ health: 'up', lastError: '' }]);
    const series = await query('count({job="hostwire"})');
    t.ok(Number(series?.[0]?.value[1]) > 200, `${series?.[0]?.value[1]} series`);
    const metadata = (await ask('metadata?metric=node_forks_total')) as Readonly<Record<string, unknown>>;
    const plain = (await ask('metadata?metric=node_forks')) as Readonly<Record<string, unknown>>;
    t.ok('node_forks' in plain || 'node_forks_total' in metadata, 'its metadata is known');
  },
);
