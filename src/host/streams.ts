/** Event streams whose sockets the addon owns: its own thread sends them their head and each sample. */

/** 'none': without streams there is neither a thread nor an io_uring. */
export type SendMethod = 'none' | 'send' | 'io_uring';

export interface StreamWriterOptions {
  /** Default: io_uring if the kernel permits it, otherwise one send per stream. */
  readonly method?: 'send' | 'io_uring';
  /** A stream that was sent nothing for this long gets a comment (15,000). */
  readonly silenceMs?: number;
  /** A full stream that takes nothing for this long is cut; by default never. */
  readonly stallLimitMs?: number;
}

/**
 * Called in a later turn, with all that has happened since the last call. `buffered`: pairs of the id of a stream and how many
 * bytes of an event are buffered for it; 0: it is no longer full. `closed`: ids whose connections are closed; they may be
 * reused from now on.
 */
export type OnStreamNews = (buffered: Uint32Array, closed: Uint32Array) => void;

/** How the bytes of a body are framed: HTTP/1.0 has no chunks. */
export type Framing = 'chunked' | 'plain';

/** Every call returns immediately. */
export interface StreamWriter {
  /**
   * Takes over the connection behind `descriptor`, by a duplicate of it: the caller then destroys its own socket
   * without a shutdown. All bytes written to it before must have left user memory. `head` (of the answer, with its blank
   * line) and `event` (`data: …\n\n`) are sent before anything else. Streams of one `channel` are sent the same events;
   * channels are numbered from 0 without large gaps. `sent`: the number of the newest sample that is in `event`, or must
   * not be sent to this stream. `isPlain`: without chunks. Returns its id: its slot in the lower 20 bits, with the slots
   * in use numbered from 0 without large gaps. Throws an error with a code: EMFILE, ENFILE, EBADF, ENOMEM, EAGAIN;
   * ECANCELED after the end.
   */
  adopt(
    descriptor: number,
    channel: number,
    sent: number,
    isPlain: boolean,
    head: Uint8Array,
    event: Uint8Array,
  ): number;
  /**
   * Sends `event` (`data: …\n\n`) to all streams of `channel` whose `sent` is less than `number`, which is less than
   * 2³²; sends `whole`, if given, to streams that missed the previous number. A repeated call with the same number
   * reaches streams that joined since.
   */
  publish(channel: number, number: number, event: Uint8Array, whole?: Uint8Array): void;
  /** Returns whether a stream may miss the next published sample. */
  mayMiss(): boolean;
  /** Drops the kept events of `channel`. Its number may be reused when its streams have closed. */
  forget(channel: number): void;
  /** Ends the streams of `channel` at the end of an event, as far as they take their rest. */
  finish(channel: number): void;
  /** Resets the connections of these streams; ids of closed ones are ignored. */
  cut(ids: Uint32Array): void;
  /**
   * Ends all streams at the end of an event, once. A stream that has not taken its rest after `limitMs` is cut; resolves with
   * the number of those.
   */
  end(limitMs: number): Promise<number>;
  /** Closes all streams immediately. */
  close(): void;
  counters(): StreamCounters;
}

export interface StreamCounters {
  readonly streams: number;
  readonly fullStreams: number;
  readonly bufferedBytes: number;
  /** Samples sent since the start, and samples that full streams never received. */
  readonly sentEvents: number;
  readonly skippedEvents: number;
  /** The method in use. */
  readonly method: SendMethod;
}

export interface StreamHost {
  /** Creates a writer; its thread exists from its first stream until soon after its last one. */
  start(options: StreamWriterOptions, onNews: OnStreamNews): StreamWriter;
  /** Returns the default method. */
  findMethod(): SendMethod;
  /** Watches this thread's event loop. Throws if Node does not export its handles. */
  openPolls(): PausedPolls;
}

/**
 * Finds the descriptors of connections of this thread's event loop whose library does not expose them: a paused
 * connection is a handle that polls nothing, and it polls again when it is resumed.
 */
export interface PausedPolls {
  /** Lists the handles that poll nothing now. */
  look(): void;
  /** Returns the descriptor of the one handle of that list which polls again; undefined if none or several do. */
  takeResumed(): number | undefined;
  /** Returns whether the kernel holds bytes of the connection that its peer has not acknowledged. */
  hasPending(descriptor: number): boolean;
}

/** Returns the slot of a stream's id. */
export const slotOf = (id: number): number => id & 0xf_ff_ff;
