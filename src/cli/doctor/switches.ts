/** Capabilities that the configuration switches off: they are not asked, or would work if switched on. Pure. */
import type { Config } from '../../config/config.ts';
import type { Capability, Finding } from '../../host/finding.ts';
import { type Obstacle, partly, works } from './rows.ts';

export type SwitchConfig = Pick<Config, 'features' | 'power' | 'discovery'>;

type Feature = keyof Config['features'];

/** The switch of each row that has one. */
const FEATURES: ReadonlyMap<string, Feature> = new Map([
  ['process-control', 'enable_process_control'],
  ['shutdown', 'enable_shutdown'],
  ['restart', 'enable_restart'],
  ['sleep', 'enable_sleep'],
  ['hibernate', 'enable_hibernate'],
  ['lock', 'enable_sleep'],
]);

const turnOn = (feature: Feature): Obstacle => ({
  reason: `features.${feature} is off`,
  remedy: `set features.${feature} to true`,
});

/** A row for each capability that must not be asked. */
export function findSwitchedOff({
  features,
  power,
  discovery,
}: SwitchConfig): ReadonlyMap<Capability, Finding> {
  const off = new Map<Capability, Finding>();
  if (!features.enable_processes)
    off.set('processes', partly('processes', 'switched off', turnOn('enable_processes')));
  if (power.backend === 'record')
    off.set(
      'power',
      partly('power', 'power.backend is record', {
        reason: 'actions are recorded, not carried out',
        remedy: 'set power.backend to system',
      }),
    );
  if (!features.enable_media) off.set('media', partly('media', 'switched off', turnOn('enable_media')));
  if (!discovery.mdns) off.set('discovery', works('mdns', 'off: discovery.mdns is false'));
  return off;
}

/** Returns `finding`, or a row that its switch is off: a possible action may still be switched off. */
export function judgeSwitch(finding: Finding, { features }: SwitchConfig): Finding {
  const feature = FEATURES.get(finding.subject);
  if (feature === undefined || finding.status !== 'works' || features[feature]) return finding;
  return partly(finding.subject, finding.source, turnOn(feature));
}
