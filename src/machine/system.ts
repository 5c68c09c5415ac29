/** Builds the answer of GET /api/system from the host, the latest sample and the capabilities of the commands. */
import type { Media } from '../commands/media.ts';
import type { Power } from '../commands/power.ts';
import type { ProcessControl } from '../commands/process.ts';
import type { WakeControl } from '../commands/wake.ts';
import { codeOf } from '../errors.ts';
import type { Host } from '../host/host.ts';
import type { SampleSource } from '../stats/source.ts';
import {
  deriveSystem,
  deriveSystemDetail,
  type ServiceFacts,
  SYSTEM_DETAIL_NEEDS,
  SYSTEM_NEEDS,
} from '../stats/system.ts';
import type { SystemPayload } from '../wire/system.ts';

export interface SystemDeps {
  readonly host: Pick<Host, 'readSystem' | 'readWakeOnLan'>;
  readonly facts: ServiceFacts;
  readonly source: Pick<SampleSource, 'latest'>;
  readonly power: Pick<Power, 'capabilities'>;
  readonly media: Pick<Media, 'capability'>;
  readonly processControl: Pick<ProcessControl, 'capabilities'>;
  readonly wakeControl: Pick<WakeControl, 'capability'>;
}

/** Concurrent requests share an answer: each reading takes one of 32 threads, which scrapes need as well. */
export function sharedSystem(deps: SystemDeps): (withDetail: boolean) => Promise<SystemPayload> {
  const underWay = new Map<boolean, Promise<SystemPayload>>();
  return async (withDetail) => {
    const known = underWay.get(withDetail);
    if (known !== undefined) return await known;
    const answer = readSystem(deps, withDetail).finally(() => underWay.delete(withDetail));
    underWay.set(withDetail, answer);
    return await answer;
  };
}

export async function readSystem(deps: SystemDeps, withDetail: boolean): Promise<SystemPayload> {
  const { host, facts, source, power, media, processControl, wakeControl } = deps;
  const [info, { sample }, cards] = await Promise.all([
    host.readSystem(),
    source.latest(withDetail ? SYSTEM_DETAIL_NEEDS : SYSTEM_NEEDS),
    withDetail ? readCards(host) : [],
  ]);
  if (!withDetail) return deriveSystem(info, sample, facts);
  return deriveSystemDetail(info, sample, facts, {
    cards,
    capabilities: {
      power: await power.capabilities(),
      media: await media.capability(),
      processes: processControl.capabilities(),
      wake: wakeControl.capability(),
    },
  });
}

/** Returns an Error for cards that cannot be read: the rest of the answer does not depend on them. */
async function readCards(host: SystemDeps['host']) {
  return await host.readWakeOnLan().catch((error: unknown) => {
    const isUnknown = codeOf(error) === 'ENOTSUP';
    return new Error(isUnknown ? 'not available on this system' : 'cannot be read');
  });
}
