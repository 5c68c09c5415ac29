/** What `hostwire doctor` says of power: who is asked, by which bus, and what that one says of each action. */
import type { Config } from '../../config/schema.ts';
import type { PowerAction, PowerAuthority, PowerHost, PowerSupport } from '../../host/power.ts';
import type { Row } from './rows.ts';

/** Each action and the flag that allows it. */
const ACTIONS: Readonly<Record<PowerAction, keyof Config['features']>> = {
  shutdown: 'enable_shutdown',
  restart: 'enable_restart',
  sleep: 'enable_sleep',
  hibernate: 'enable_hibernate',
  lock: 'enable_sleep',
};

const ACTS = Object.keys(ACTIONS) as PowerAction[]; // Its own keys are exactly these.

export interface PowerFindings {
  readonly authority: PowerAuthority;
  readonly supports: Readonly<Record<PowerAction, PowerSupport>>;
}

export type PowerConfig = Pick<Config, 'power' | 'features'>;

/** Asks and judges. `host` undefined: nobody is known on this platform. Nothing is done. */
export async function examinePower(
  host: PowerHost | undefined,
  config: PowerConfig,
): Promise<readonly Row[]> {
  if (config.power.backend === 'record' || host === undefined) return judgePower(undefined, config);
  const [authority, entries] = await Promise.all([
    host.authority(),
    Promise.all(ACTS.map(async (act) => [act, await host.support(act)] as const)),
  ]);
  // One entry an action, which Object.fromEntries can't know.
  const supports = Object.fromEntries(entries) as PowerFindings['supports'];
  return judgePower({ authority, supports }, config);
}

/** Pure. */
export function judgePower(findings: PowerFindings | undefined, config: PowerConfig): readonly Row[] {
  if (config.power.backend === 'record')
    return [
      {
        section: 'power',
        state: 'partly',
        source: 'power.backend is record',
        reason: 'nothing is done, what would be is listed',
        remedy: 'set power.backend to system',
      },
    ];
  if (findings === undefined)
    return [{ section: 'power', state: 'missing', source: 'none', reason: 'not known on this platform' }];
  const { authority, supports } = findings;
  const row = judgeAuthority(authority);
  // Nobody would say the same five times.
  if (authority.name === null) return [row];
  return [row, ...ACTS.map((act) => judgeAction(act, supports[act], config))];
}

function judgeAuthority({ name, reached, reason }: PowerAuthority): Row {
  if (name !== null) return { section: 'power', state: 'ok', source: `${name} on ${reached}` };
  return {
    section: 'power',
    state: 'missing',
    source: reached === '' ? 'no system bus' : reached,
    reason: reason ?? 'nobody answers',
    remedy: 'install libsystemd0 (or libelogind0) and run systemd-logind or elogind on the system bus',
  };
}

function judgeAction(
  act: PowerAction,
  { isSupported, reason }: PowerSupport,
  { features }: PowerConfig,
): Row {
  if (!isSupported)
    return { section: act, state: 'missing', source: 'not possible', reason: reason ?? 'no reason is given' };
  const flag = ACTIONS[act];
  if (features[flag]) return { section: act, state: 'ok', source: 'possible' };
  return {
    section: act,
    state: 'partly',
    source: 'possible',
    reason: `features.${flag} is off`,
    remedy: `set features.${flag} to true`,
  };
}
