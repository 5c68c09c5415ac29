/** Views for tests of what is drawn. */
import { FIRST_POINTS, type Sample, type View, withPoints } from '#src/cli/top/view.js';

const GIB = 1024 ** 3;

export const SAMPLE: Sample = {
  timestamp: 1_795_226_366,
  uptime: 97_200,
  interval_seconds: 1,
  window_seconds: 1,
  host: 'workbench',
  cpu: {
    current_load: 12.4,
    current_temp: 54,
    current_speed: 3.4,
    cores: [0, 50, 100, null],
    speeds: [],
    load_average: [0.5, 0.4, 0.3],
    breakdown: { user: 8, system: 4, nice: 0, iowait: 1, irq: 0, steal: 0, idle: 87 },
    temperature: 54,
    power_watts: 15,
    pressure: null,
  },
  memory: {
    used: 8 * GIB,
    free: 8 * GIB,
    used_percent: 50,
    total: 16 * GIB,
    cached: GIB,
    buffers: 0,
    swap: { total: 0, used: 0, free: 0, used_percent: 0 },
    pressure: null,
  },
  gpu: null,
  disks: [],
  network: {
    bytesSent: 1,
    bytesRecv: 1,
    send_rate: 1024,
    receive_rate: 2048,
    packetsSent: 1,
    packetsRecv: 1,
    errin: 0,
    errout: 0,
    dropin: 0,
    dropout: 0,
    interfaces: [],
  },
  sensors: [{ label: 'k10temp Tctl', kind: 'temperature', value: 54, unit: '°C' }],
  batteries: [],
  drives: [],
  limits: null,
};

export const rowOf = (pid: number, name: string) => ({
  pid,
  name,
  memory: pid * 1024 ** 2,
  memory_mb: pid,
  cpu_time: 1,
  cpu: 1,
  ppid: 1,
  user: 'root',
  started_at: 100 + pid,
  threads: 1,
  path: null,
});

export function viewOf(changed: Partial<View> = {}): View {
  const listing = { sort: 'cpu', query: '', offset: 0 } as const;
  const features = { enable_media: true, enable_processes: true, enable_process_control: true };
  return {
    url: 'http://pc:9990',
    isOfHub: false,
    nowMs: 0,
    connected: { version: '0.0.0', protocol: 2, run: '1', clock: 0, features },
    sample: SAMPLE,
    processes: { total: 3, rows: [rowOf(11, 'init'), rowOf(22, 'bash'), rowOf(33, 'editor')], listing },
    media: undefined,
    outage: undefined,
    traces: withPoints(FIRST_POINTS, SAMPLE),
    listing,
    isHelp: false,
    isTyping: false,
    selected: undefined,
    ending: undefined,
    note: '',
    ...changed,
  };
}
