/** The stream of samples that the hub opens at an agent. */
import { ALL_SECTIONS } from '../../host/host.ts';
import type { AgentStream, StreamSink } from '../host/lane.ts';
import type { HubParts } from '../host/parts.ts';
import { HostSample } from '../host/sample.ts';
import { namesOf } from '../host/section-names.ts';
import { BadAnswer } from '../pull/answer.ts';
import { EventSplitter } from '../pull/events.ts';
import { AgentPace } from '../pull/pace.ts';
import { AgentRequest } from '../pull/request.ts';
import { checkHead, type Failure } from '../pull/socket.ts';
import type { Target } from '../pull/target.ts';

/** Time for one event to arrive, in times of the longest silence: without it a byte now and then would hold a stream. */
const EVENT_SILENCES = 3;
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
  const pace = new AgentPace(clock.now);
  let begunAtMs: number | undefined;
  const splitter = new EventSplitter(
    (event) => onSample(new HostSample(event, sections, clock.now())),
    () => {
      begunAtMs = undefined;
      pace.takeEvent();
    },
  );
  const onBody = (bytes: Buffer, start: number, end: number) => {
    splitter.push(bytes, start, end);
    if (splitter.keptBytes === 0) return;
    const nowMs = clock.now();
    begunAtMs ??= nowMs;
    if (nowMs - begunAtMs > EVENT_SILENCES * times.silenceMs)
      throw new BadAnswer('an event of the stream takes too long');
  };
  const path = `/api/stream${queryOf(sections, withDetail)}`;
  return new AgentRequest(
    target,
    { path, headMs: times.headMs, silenceMs: times.silenceMs, pace },
    {
      onHead: (head) => checkHead(head, 'text/event-stream'),
      onBody,
      onEnd: (failure) => onEnd(failure ?? ENDED),
    },
  );
}
