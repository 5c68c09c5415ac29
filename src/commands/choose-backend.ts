/** Which backend carries power commands out: as the configuration says and the platform allows. */
import type { Clock } from '../clock.ts';
import type { Config } from '../config/schema.ts';
import type { PowerHost } from '../host/power.ts';
import type { Log } from '../log.ts';
import { HostPower } from './host-power.ts';
import { absentBackend, type PowerBackend, recordingBackend } from './power-backend.ts';

export interface BackendChoice {
  readonly wanted: Config['power']['backend'];
  /** undefined: this platform has no power manager that is known. */
  readonly host: PowerHost | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** The machine has woken. */
  readonly onWake: () => void;
}

export function chooseBackend({ wanted, host, clock, log, onWake }: BackendChoice): PowerBackend {
  if (wanted === 'record') {
    log.warn('power.backend is record: power commands are answered and listed, and nothing is done');
    return recordingBackend(Date.now, log);
  }
  if (host === undefined) return absentBackend('no power manager is known on this platform');
  return new HostPower({ host, clock, log, onWake });
}
