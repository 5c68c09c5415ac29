/** Processes through the program itself: in detailed samples. */
import t from 'tap';
import { EventStream, payloadOf } from '../helpers/event-stream.ts';
import { ask, jsonOf } from '../helpers/raw-http.ts';
import { startService } from '../helpers/service.ts';

interface Share {
  readonly name: string;
  readonly pid: number;
  readonly cpu: number | null;
}

interface Detail {
  readonly processes?: {
    readonly count: number;
    readonly running: number;
    readonly top_cpu: readonly Share[] | null;
    readonly top_memory: readonly Share[];
  } | null;
}

t.test('[3.detail-processes] five rows of each in a detailed sample, none by default', async (t) => {
  const service = await startService({ config: { stats: { stream_interval_seconds: 1 } } });
  t.teardown(() => service.stop());
  const stream = await EventStream.open(service.port, '/api/stream?detail=1&fields=memory');
  t.teardown(() => stream.close());
  const samples: Detail[] = [];
  for (let i = 0; i < 5; i++) samples.push(payloadOf(await stream.next()) as Detail);
  const { processes } = samples.at(-1) ?? {};
  t.ok((processes?.count ?? 0) > 1);
  t.equal(processes?.top_memory.length, 5);
  t.ok((processes?.top_cpu?.length ?? 9) <= 5);
  t.strictSame(Object.keys(processes?.top_memory[0] ?? {}), [
    'name',
    'pid',
    'memory',
    'memory_mb',
    'cpu_time',
    'cpu',
  ]);
  for (const { cpu } of processes?.top_cpu ?? []) t.ok(cpu !== null && cpu >= 0 && cpu <= 100);
  t.notOk('processes' in Object(jsonOf(await ask(service.port, '/api/usage'))), 'not by default');
});

t.test('[3.detail-processes] absent while features.enable_processes is off', async (t) => {
  const config = { stats: { stream_interval_seconds: 1 }, features: { enable_processes: false } };
  const service = await startService({ config });
  t.teardown(() => service.stop());
  const payload = Object(jsonOf(await ask(service.port, '/api/usage?detail=1')));
  t.ok('interval_seconds' in payload);
  t.notOk('processes' in payload);
});
