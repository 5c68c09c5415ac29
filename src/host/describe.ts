/** Collects the reports of the machine's readers about themselves, once readers that may answer late have answered. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Capability, Describer, Finding } from './finding.ts';

/** Result of the addon's class `Host`: see native/napi/host_binding.h. */
export interface HostDescription {
  readonly findings: readonly Finding[];
  /** A device has not answered yet, and may answer within seconds. */
  readonly isPending: boolean;
}

/** Time within which a prober that answers at all has answered. */
const PROBE_MS = 400;
/** A graphics driver without a client may take seconds to start. */
const PENDING_LIMIT_MS = 4000;
const PENDING_STEP_MS = 200;

async function describeReaders(describe: () => HostDescription): Promise<readonly Finding[]> {
  describe(); // Sets the probers going.
  await delay(PROBE_MS);
  const end = performance.now() + PENDING_LIMIT_MS;
  while (true) {
    const { findings, isPending } = describe();
    if (!isPending || performance.now() > end) return findings;
    await delay(PENDING_STEP_MS);
  }
}

/** `without`: capabilities that must not be asked. */
export async function describeMachine(
  describe: () => HostDescription,
  capabilities: Readonly<Record<Capability, Describer>>,
  without: ReadonlySet<Capability>,
): Promise<readonly Finding[]> {
  const asked = (Object.keys(capabilities) as Capability[]).filter((name) => !without.has(name)); // Its own keys.
  const findings = await Promise.all([
    describeReaders(describe),
    ...asked.map((name) => capabilities[name].describe()),
  ]);
  return findings.flat();
}
