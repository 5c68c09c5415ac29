/** What this machine or its configuration does not offer, and why. */

import { Card, type Fact, Facts } from '../parts/card.tsx';
import type { Capability, Sample, System } from '../sample.ts';
import { TEXTS } from '../texts.ts';
import { powerLabel } from './power.tsx';

const T = TEXTS.absent;

/** Which flag allows an act; locking goes with sleep. */
const FLAGS: Readonly<Record<string, string>> = {
  lock: 'enable_sleep',
  sleep: 'enable_sleep',
  hibernate: 'enable_hibernate',
  restart: 'enable_restart',
  shutdown: 'enable_shutdown',
};

function whyNot({ enabled, supported, reason }: Capability, flag: string): string | undefined {
  if (!enabled) return T.off(`features.${flag}`);
  return supported ? undefined : (reason ?? T.noReason);
}

function factsOf(sample: Sample, { capabilities }: System): readonly Fact[] {
  const { power, media, processes } = capabilities;
  const facts: (readonly [string, string | undefined])[] = [
    [T.gpu[0], sample.gpu === null ? T.gpu[1] : undefined],
    [T.sensors[0], sample.sensors.length === 0 ? T.sensors[1] : undefined],
    [T.batteries[0], sample.batteries.length === 0 ? T.batteries[1] : undefined],
    [T.media, whyNot(media, 'enable_media')],
    [T.processes, whyNot(processes.list, 'enable_processes')],
    [T.control, whyNot(processes.control, 'enable_process_control')],
    ...Object.entries(power).map(
      ([action, can]) => [powerLabel(action), whyNot(can, FLAGS[action] ?? action)] as const,
    ),
  ];
  return facts.flatMap(([label, reason]) => (reason === undefined ? [] : [[label, reason] as const]));
}

export function AbsentCard({ sample, system }: { readonly sample: Sample; readonly system: System }) {
  const facts = factsOf(sample, system);
  if (facts.length === 0) return null;
  return (
    <Card title={T.title} size="full">
      <Facts facts={facts} />
    </Card>
  );
}
