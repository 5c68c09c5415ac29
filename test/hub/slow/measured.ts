/** A hub as the program it is, whose CPU time and memory are measured from outside. */
import { anonymousPssBytesOf } from '../../../bench/cpu.ts';
import { ask } from '../../helpers/clients/http.ts';
import type { Scope } from '../../helpers/scope.ts';
import { startPreloaded } from '../../helpers/service/probed.ts';
import type { ConfigPart, ServiceProcess } from '../../helpers/service/service.ts';
import type { Collected } from './collector.ts';

const COLLECTOR = new URL('./collector.js', import.meta.url).href;

/** In KiB, after V8's garbage was collected. */
export interface Kept {
  /** V8's live memory: objects, and the buffers that they hold. */
  readonly live: number;
  /** Anonymous memory of the process without what V8 has free in its heap. */
  readonly used: number;
  /** All anonymous memory of the process. */
  readonly anonymous: number;
}

export interface MeasuredHub extends ServiceProcess {
  readonly kept: () => Promise<Kept>;
  /** A figure of /metrics; `name` without `hostwire_hub_`. */
  readonly metric: (name: string) => Promise<number>;
}

export async function startMeasured(t: Scope, config: ConfigPart): Promise<MeasuredHub> {
  const hub = await startPreloaded({ config, args: ['hub'] }, COLLECTOR);
  t.teardown(() => hub.stop());
  return {
    ...hub,
    async kept() {
      const message = await hub.askProbe('collect');
      const { heapUsed, heapTotal, external } = message as Collected; // As collector.ts sends it.
      const anonymous = anonymousPssBytesOf(hub.pid);
      const used = anonymous - (heapTotal - heapUsed);
      return { live: (heapUsed + external) / 1024, used: used / 1024, anonymous: anonymous / 1024 };
    },
    async metric(name) {
      const lines = String((await ask(hub.port, '/metrics')).body).split('\n');
      return Number(lines.find((line) => line.startsWith(`hostwire_hub_${name} `))?.split(' ')[1]);
    },
  };
}
