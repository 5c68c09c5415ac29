/** The stream of samples that the hub opens at an agent. */
import { ALL_SECTIONS } from '../../host/host.ts';
import type { AgentStream, StreamSink } from '../host/lane.ts';
import type { HubParts } from '../host/parts.ts';
import { HostSample } from '../host/sample.ts';
import { namesOf } from '../host/section-names.ts';
import { EventSplitter } from '../pull/events.ts';
import { AgentRequest } from '../pull/request.ts';
import { checkHead, type Failure } from '../pull/socket.ts';
import type { Target } from '../pull/target.ts';

const ENDED: Failure = { isRefusal: false, reason: 'it has ended its stream' };

/** `fields=` of a stream, and `detail=`. */
function queryOf(sections: number, withDetail: boolean): string {
  // No section at all is a name that none has.
  const fields = sections === ALL_SECTIONS ? [] : [`fields=${namesOf(sections).join(',') || 'none'}`];
  const query = [...fields, ...(withDetail ? ['detail=1'] : [])].join('&');
  return query === '' ? '' : `?${query}`;
}

export function openPulledStream(
  target: Target,
  { clock, times }: Pick<HubParts, 'clock' | 'times'>,
  { sections, withDetail }: { readonly sections: number; readonly withDetail: boolean },
  { onSample, onEnd }: StreamSink,
): AgentStream {
  const splitter = new EventSplitter((event) => onSample(new HostSample(event, sections, clock.now())));
  const path = `/api/stream${queryOf(sections, withDetail)}`;
  return new AgentRequest(
    target,
    { path, headMs: times.headMs, silenceMs: times.silenceMs },
    {
      onHead: (head) => checkHead(head, 'text/event-stream'),
      onBody: (bytes, start, end) => splitter.push(bytes, start, end),
      onEnd: (failure) => onEnd(failure ?? ENDED),
    },
  );
}
