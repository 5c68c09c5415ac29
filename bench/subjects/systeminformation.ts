/** The same figures from the package systeminformation; its child processes count. */
import si from 'systeminformation';
import { pace, serve } from './serve.ts';

const sample = (count: number, intervalMs: number) =>
  pace(count, intervalMs, async () => {
    const parts = [si.currentLoad(), si.cpuTemperature(), si.cpuCurrentSpeed(), si.mem(), si.fsSize()];
    JSON.stringify([si.time(), await Promise.all([...parts, si.networkStats()])]);
  });

serve(sample, true);
