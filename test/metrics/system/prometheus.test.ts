/** A running Prometheus scrapes the service with its key; what Grafana's dashboard 1860 asks for in its open rows is there. */
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { PATIENCE_MS } from '../../helpers/limits.ts';
import { startService } from '../../helpers/service/service.ts';
import { startPrometheus, whyNo } from '../programs.ts';

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

interface Result {
  readonly result: readonly { readonly value: readonly [number, string] }[];
}
interface Targets {
  readonly activeTargets: readonly { readonly health: string; readonly lastError: string }[];
}

t.test(
  '[3.metrics-prometheus] Prometheus scrapes OpenMetrics with the key, and answers the dashboard',
  { skip: whyNo('prometheus') },
  async (t) => {
    const service = await startService({ config: { auth: { enabled: true, api_key: KEY } } });
    t.teardown(() => service.stop());
    const ask = await startPrometheus(t, {
      global: { scrape_interval: '1s', scrape_timeout: '1s' },
      scrape_configs: [
        {
          job_name: 'hostwire',
          authorization: { credentials: KEY },
          static_configs: [{ targets: [new URL(service.baseUrl).host] }],
        },
      ],
    });
    const query = async (text: string) =>
      ((await ask(`query?query=${encodeURIComponent(text)}`)) as Result).result;
    const deadline = performance.now() + PATIENCE_MS;
    const missing = async () => {
      const answers = await Promise.all(QUERIES.map(query));
      return QUERIES.filter((_text, at) => answers[at]?.length === 0);
    };
    let empty = await missing();
    while (empty.length > 0 && performance.now() < deadline) {
      await sleep(500);
      empty = await missing();
    }
    t.strictSame(empty, []);
    const { activeTargets } = (await ask('targets')) as Targets;
    t.match(activeTargets, [{ health: 'up', lastError: '' }]);
    const series = await query('count({job="hostwire"})');
    t.ok(Number(series[0]?.value[1]) > 200, `${series[0]?.value[1]} series`);
    const metadata = (await ask('metadata?metric=node_forks_total')) as Readonly<Record<string, unknown>>;
    const plain = (await ask('metadata?metric=node_forks')) as Readonly<Record<string, unknown>>;
    t.ok('node_forks' in plain || 'node_forks_total' in metadata, 'its metadata is known');
  },
);
