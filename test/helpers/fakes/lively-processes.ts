/** Imaginary processes that use CPU time and can be ended. */
import type { EndSignal, ProcessColumns, ProcessFacts, ProcessHost, ProcessId } from '#src/host/processes.js';
import { type ProcessLiteral, processColumns } from './process-columns.ts';
import { wave } from './wave.ts';

const MIB = 1024 ** 2;
/** The machine has 16 processors of 100 ticks. */
const TICKS_PER_SECOND = 1600;

/** Name, number of processes, and MiB of memory per process. */
const PROGRAMS = [
  ['firefox', 14, 214],
  ['code', 9, 168],
  ['gnome-shell', 1, 340],
  ['Isolated Web Co', 11, 130],
  ['postgres', 8, 24],
  ['node', 4, 92],
  ['pipewire', 2, 12],
  ['spotify', 6, 88],
  ['Xwayland', 1, 96],
  ['systemd-journald', 1, 42],
  ['NetworkManager', 1, 19],
  ['dockerd', 1, 78],
  ['containerd', 1, 44],
  ['bash', 7, 6],
  ['sshd', 2, 9],
  ['thunderbird', 1, 402],
  ['gnome-terminal', 1, 52],
  ['tracker-miner-f', 1, 31],
  ['dbus-daemon', 3, 5],
  ['cupsd', 1, 11],
  ['bluetoothd', 1, 7],
  ['upowerd', 1, 9],
  ['wpa_supplicant', 1, 10],
  ['polkitd', 1, 14],
] as const;

/** MiB/s that each process of a name writes. */
const WRITTEN: Readonly<Record<string, number>> = { firefox: 0.4, postgres: 2.6, 'systemd-journald': 0.1 };

/** A workstation's: 81 processes of 25 names. */
function programs(): readonly ProcessLiteral[] {
  const rows: ProcessLiteral[] = [{ pid: 1, name: 'systemd', ppid: 0, memory: 13 * MIB, cpu: 900 }];
  for (const [name, many, mib] of PROGRAMS)
    for (let i = 0; i < many; i++) {
      const pid = 400 + rows.length * 37;
      rows.push({
        pid,
        name,
        ppid: 1,
        start: 4000 + pid,
        memory: mib * MIB * (1 + (i % 3) / 3),
        cpu: 7 * pid,
      });
    }
  return rows;
}

export class LivelyProcesses implements ProcessHost {
  readonly sent: (readonly [pid: number, signal: EndSignal])[] = [];
  /** Processes that end only by force. */
  readonly stubborn = new Set<number>();
  /** Its figures stay those of the first reading, as on a machine whose processes take long to read. */
  isSlow = false;
  readonly #now: () => number;
  #rows: readonly ProcessLiteral[];
  #at: number;
  #columns: ProcessColumns;

  constructor(now: () => number, rows: readonly ProcessLiteral[] = programs()) {
    this.#now = now;
    this.#rows = rows;
    this.#at = now();
    this.#columns = this.#take();
  }

  #take(): ProcessColumns {
    const now = this.#now();
    const elapsed = now - this.#at;
    this.#at = now;
    this.#rows = this.#rows.map((row, i) => ({
      ...row,
      cpu: (row.cpu ?? 0) + 0.3 * TICKS_PER_SECOND * elapsed * wave(now, i * 0.37) ** 8,
      // Those of process 1 are hidden.
      ...(row.pid > 1 && { read: 0, written: now * (WRITTEN[row.name ?? ''] ?? 0) * MIB }),
    }));
    return processColumns(now, this.#rows, {
      machineTicks: Math.round(now * TICKS_PER_SECOND),
      unixMs: Date.now(),
    });
  }

  latest = () => this.#columns;

  ask(): void {
    if (!this.isSlow) this.#columns = this.#take();
  }

  includeDisks = () => undefined;
  read = async () => this.#take();
  readDetails = async (pid: number): Promise<ProcessFacts | null> => {
    const row = this.#rows.find((each) => each.pid === pid);
    if (row === undefined) return null;
    const path = `/usr/bin/${row.name}`;
    const command = [path, '--profile', '/home/ada/.config/a-profile-with-a-long-name'];
    return { pid, startTicks: row.start ?? 100, path, folder: '/home/ada', openFiles: 37, command };
  };
  readPaths = async (processes: readonly ProcessId[]) => processes.map(() => null);
  whyNoControl = () => null;

  signal({ pid }: ProcessId, signal: EndSignal): 'sent' | 'gone' {
    if (!this.#rows.some((row) => row.pid === pid)) return 'gone';
    this.sent.push([pid, signal]);
    if (signal === 'kill' || (signal === 'term' && !this.stubborn.has(pid)))
      this.#rows = this.#rows.filter((row) => row.pid !== pid);
    return 'sent';
  }

  waitForEnd = async (processes: readonly ProcessId[]) =>
    processes.map(({ pid }) => !this.#rows.some((row) => row.pid === pid));

  launch = async () => 4711;
}
