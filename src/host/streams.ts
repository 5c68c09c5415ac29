/** Event streams whose sockets the addon owns: one thread of its own sends each sample to all of them. */

/** 'none': there is no stream, so there is neither a thread nor an io_uring. */
export type SendMethod = 'none' | 'send' | 'io_uring';

export interface StreamWriterOptions {
  /** Without it: io_uring where the kernel permits it, otherwise one send per stream. */
  readonly method?: 'send' | 'io_uring';
  /** A stream that was sent nothing for this long gets a comment (15,000). */
  readonly silenceMs?: number;
  /** A full stream that takes nothing for this long is cut; by default never, because PeerWatch sees its peer. */
  readonly stallLimitMs?: number;
}

/** Called in a later turn, with all that has happened since the last call. */
export interface StreamEvents {
  /** So many bytes of an event are kept for a full stream; 0: it is no longer full. */
  onKept(id: number, bytes: number): void;
  /** Their connections are closed. These ids may be given to other streams from now on. */
  onClosed(ids: Uint32Array): void;
}

export interface StreamAdoption {
  /** 0–255: streams of one view are sent the same events. */
  readonly view: number;
  /** Number of the newest sample that this stream has had, or is not to have. */
  readonly sent: number;
  /** 'plain' without chunk marks, for HTTP/1.0. */
  readonly framing: 'chunked' | 'plain';
}

/** Every call returns at once. */
export interface StreamWriter {
  /**
   * Takes over the connection behind `descriptor`, by a duplicate of it: the caller then destroys its own socket without
   * a shutdown. All that was written to it before must have left. Returns its id: its slot in the lower 20 bits, with
   * the slots in use numbered from 0 without large gaps. Throws an error with a code: EMFILE, ENFILE, EBADF, ENOMEM,
   * EAGAIN; ECANCELED after the end.
   */
  adopt(descriptor: number, stream: StreamAdoption): number;
  /**
   * Sends `event` (`data: …\n\n`) to all streams of `view` whose `sent` is less than `number`, which is
   * less than 2³². Once more with the same number, it reaches those that joined since.
   */
  publish(view: number, number: number, event: Uint8Array): void;
  /** Resets the connections of these streams; ids of closed ones are ignored. */
  cut(ids: readonly number[]): void;
  /**
   * Ends all streams on the boundary of an event. One that has not taken its rest after `limitMs` is cut; resolves with
   * the number of those.
   */
  end(limitMs: number): Promise<number>;
  /** Closes all streams at once. */
  close(): void;
  counters(): StreamCounters;
}

export interface StreamCounters {
  readonly streams: number;
  readonly fullStreams: number;
  readonly keptBytes: number;
  /** Samples that were sent since the start, and those that full streams were never sent. */
  readonly sentEvents: number;
  readonly skippedEvents: number;
  /** The one in use. */
  readonly method: SendMethod;
}

export interface StreamHost {
  /** A writer; there is no thread before its first stream and soon after its last one. */
  start(options: StreamWriterOptions, events: StreamEvents): StreamWriter;
  /** What is used where no method is asked for. */
  findMethod(): SendMethod;
}

/** The slot of a stream's id. */
export const slotOf = (id: number): number => id & 0xf_ff_ff;

/** What the addon exports for it. */
export interface NativeStreams {
  adopt(descriptor: number, view: number, sent: number, isPlain: boolean): number;
  publish(view: number, number: number, event: Uint8Array): void;
  cut(ids: Uint32Array): void;
  end(limitMs: number): Promise<number>;
  close(): void;
  counters(): StreamCounters;
}

export type OpenNativeStreams = (
  options: StreamWriterOptions,
  /** `kept`: pairs of an id and a number of bytes. */
  onNews: (kept: Uint32Array, closed: Uint32Array) => void,
) => NativeStreams;

export function startStreams(
  open: OpenNativeStreams,
  options: StreamWriterOptions,
  events: StreamEvents,
): StreamWriter {
  const native = open(options, (kept, closed) => {
    for (let at = 0; at + 1 < kept.length; at += 2) events.onKept(kept[at] ?? 0, kept[at + 1] ?? 0);
    if (closed.length > 0) events.onClosed(closed);
  });
  let ending: Promise<number> | undefined;
  return {
    adopt: (descriptor, { view, sent, framing }) => native.adopt(descriptor, view, sent, framing === 'plain'),
    publish: (view, number, event) => native.publish(view, number, event),
    cut: (ids) => native.cut(Uint32Array.from(ids)),
    end(limitMs) {
      ending ??= native.end(limitMs);
      return ending;
    },
    close: () => native.close(),
    counters: () => native.counters(),
  };
}
