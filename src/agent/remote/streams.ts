/** The streams of samples from one machine: their interest together, and the samples that have it. */
import { SECTION_BITS, type Section } from '../../host/host.ts';
import type { SampleLines } from '../protocol/sample-lines.ts';
import type { Failure } from './failure.ts';
import type { InterestMessage } from './pushed.ts';
import { HostSample } from './sample.ts';
import { namesOf } from './section-names.ts';
import type { AgentStream, StreamSink } from './upstream.ts';

interface Stream {
  readonly sections: number;
  readonly withDetail: boolean;
  readonly sink: StreamSink;
}

const bitsOf = (names: readonly Section[]) => names.reduce((bits, name) => bits | SECTION_BITS[name], 0);

export class RemoteStreams {
  readonly #onInterest: () => void;
  /** The newest first: one that takes the place of another ends it before that one gets the sample too. */
  #open: readonly Stream[] = [];

  /** `onInterest`: called when something else is wanted. */
  constructor(onInterest: () => void) {
    this.#onInterest = onInterest;
  }

  get isEmpty(): boolean {
    return this.#open.length === 0;
  }

  /** undefined: nothing. */
  get interest(): InterestMessage | undefined {
    if (this.isEmpty) return undefined;
    const detail = this.#union(true);
    return {
      sections: namesOf(this.#union(false) ?? 0),
      ...(detail !== undefined && { detail: namesOf(detail) }),
    };
  }

  open(sections: number, withDetail: boolean, sink: StreamSink): AgentStream {
    // A lease of no section is the end of it; the time comes with any.
    const isNothing = sections === 0 && !withDetail;
    const stream = { sections: isNothing ? SECTION_BITS.memory : sections, withDetail, sink };
    this.#open = [stream, ...this.#open];
    this.#onInterest();
    return {
      close: () => {
        if (!this.#open.includes(stream)) return;
        this.#open = this.#open.filter((each) => each !== stream);
        this.#onInterest();
      },
    };
  }

  /** All that there are. */
  end(failure: Failure): void {
    const ended = this.#open;
    this.#open = [];
    for (const { sink } of ended) sink.onEnd(failure);
    if (ended.length > 0) this.#onInterest();
  }

  /** `nowMs`: of the hub's clock. Throws BadSample. */
  publish(lines: SampleLines, nowMs: number): void {
    for (const withDetail of [false, true]) {
      const names = withDetail ? lines.head.detail : lines.head.plain;
      if (names === undefined) continue;
      const found = bitsOf(names);
      const takers = this.#open.filter(
        (stream) => stream.withDetail === withDetail && (stream.sections & ~found) === 0,
      );
      const joined = takers.length === 0 ? undefined : lines.join(withDetail);
      if (joined === undefined) continue;
      const sample = new HostSample(joined.event, found, nowMs, joined.members);
      for (const stream of takers) if (this.#open.includes(stream)) stream.sink.onSample(sample);
    }
  }

  /** undefined: no stream has this form. */
  #union(withDetail: boolean): number | undefined {
    const streams = this.#open.filter((stream) => stream.withDetail === withDetail);
    return streams.length === 0 ? undefined : streams.reduce((bits, { sections }) => bits | sections, 0);
  }
}
