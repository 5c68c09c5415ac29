/** The processes of a detailed sample: the summary that the sampler was given (src/processes makes it). */
import type { DetailRow } from './detail-row.ts';

export const PROCESSES: DetailRow<'processes'> = {
  derive: (_counters, facts) => facts.processes,
  failures: () => [],
  // The busiest ones change from sample to sample, so they are not series.
  series: ({ count, running, age_seconds }) => [
    { name: 'processes', unit: 'count', value: count },
    { name: 'processes_running', unit: 'count', value: running },
    { name: 'processes_age', unit: 'seconds', value: age_seconds },
  ],
};
