/** Chooses the backend that carries power commands out, by the configuration and the platform. */
import type { Clock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import type { PowerHost } from '../host/power.ts';
import type { Log } from '../log/log.ts';
import { HostPower } from './host-power.ts';
import { absentBackend, type PowerBackend, recordingBackend } from './power-backend.ts';

export interface BackendChoice {
  readonly wanted: Config['power']['backend'];
  /** undefined: no power manager is supported on this platform. */
  readonly host: PowerHost | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

export function chooseBackend({ wanted, host, clock, log }: BackendChoice): PowerBackend {
  if (wanted === 'record') {
    log.warn('power.backend is record: power commands are recorded, not carried out');
    return recordingBackend(Date.now, log);
  }
  if (host === undefined) return absentBackend('no power manager is supported on this platform');
  return new HostPower({ host, clock, log });
}
