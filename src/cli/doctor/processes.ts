/** What `hostwire doctor` says of processes: whether they can be listed, and whether anything can be done to them. */
import type { Config } from '../../config/schema.ts';
import type { ProcessHost } from '../../host/processes.ts';
import type { Row } from './rows.ts';

export interface ProcessFindings {
  /** How many there are, or why they can't be listed. */
  readonly listed: number | Error;
  /** Why nothing can be done to them; null where it can. */
  readonly whyNoControl: string | null;
}

export type ProcessConfig = Pick<Config, 'features'> & { readonly host: { readonly proc: string } };

/** Lists and judges. `host` undefined: processes are not known of on this platform. Nothing is done to any. */
export async function examineProcesses(
  host: ProcessHost | undefined,
  config: ProcessConfig,
): Promise<readonly Row[]> {
  if (!config.features.enable_processes || host === undefined) return judgeProcesses(undefined, config);
  const listed = await host.read().then(
    ({ pids }) => pids.length,
    (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
  );
  return judgeProcesses({ listed, whyNoControl: host.whyNoControl() }, config);
}

/** What would mend it, where anybody knows. */
function cureOf(reason: string): { readonly remedy?: string } {
  if (/another root/.test(reason)) return { remedy: 'leave host.proc and host.sys at /proc and /sys' };
  if (/other processes/.test(reason))
    return { remedy: "give the container the host's processes (--pid host)" };
  return {};
}

function judgeControl(whyNoControl: string | null, { features }: ProcessConfig): Row {
  const section = 'process-control';
  if (whyNoControl !== null)
    return {
      section,
      state: 'missing',
      source: 'not possible',
      reason: whyNoControl,
      ...cureOf(whyNoControl),
    };
  if (features.enable_process_control) return { section, state: 'ok', source: 'possible' };
  const reason = 'features.enable_process_control is off';
  return {
    section,
    state: 'partly',
    source: 'possible',
    reason,
    remedy: 'set features.enable_process_control to true',
  };
}

/** Pure. */
export function judgeProcesses(findings: ProcessFindings | undefined, config: ProcessConfig): readonly Row[] {
  const section = 'processes';
  if (!config.features.enable_processes)
    return [
      {
        section,
        state: 'partly',
        source: 'switched off',
        reason: 'features.enable_processes is off',
        remedy: 'set features.enable_processes to true',
      },
    ];
  if (findings === undefined)
    return [{ section, state: 'missing', source: 'none', reason: 'not known on this platform' }];
  const { listed, whyNoControl } = findings;
  const { proc } = config.host;
  const list: Row =
    listed instanceof Error
      ? { section, state: 'missing', source: proc, reason: listed.message }
      : { section, state: 'ok', source: `${listed} ${listed === 1 ? 'process' : 'processes'} in ${proc}` };
  return [list, judgeControl(whyNoControl, config)];
}
