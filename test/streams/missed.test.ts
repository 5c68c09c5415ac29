/** A stream that was full while others got events is sent everything, as events hold only what changed. */
import t from 'tap';
import { Quota } from '#src/fairness/quota.js';
import { ViewerCounts } from '#src/http/clients/viewer-counts.js';
import type { Exchange, StreamEventHandler, StreamSocket, StreamStart } from '#src/http/engine.js';
import { EngineFanout } from '#src/streams/engine-fanout.js';
import { FakeClock } from '../helpers/fakes/clock.ts';
import { callerAt } from '../helpers/fakes/sender.ts';

/** A stream that is full when the test says so. */
class Stream implements StreamSocket {
  readonly caller = callerAt('192.0.2.1');
  readonly address = '192.0.2.1';
  readonly isStream = true;
  readonly got: string[];
  readonly #onEvent: StreamEventHandler;
  place = 0;
  sent: number;
  writtenAt = 0;
  isFull = false;

  constructor({ event, sent, onEvent }: StreamStart) {
    this.got = [String(event)];
    this.sent = sent;
    this.#onEvent = onEvent;
  }

  /** The kernel has room again. */
  drain(): void {
    this.#onEvent.call(this, 0);
  }

  bufferedBytes(): number {
    return 0;
  }
  send(event: Buffer): void {
    this.got.push(String(event));
  }
  sendDrained(event: Buffer): void {
    this.send(event);
  }
  resume(): boolean {
    this.isFull = false;
    return true;
  }
  flush(): void {}
  sendComment(): void {}
  end(): void {}
  cut(): void {}
  markClosed(): void {}
}

function open(fanout: EngineFanout): Stream {
  const opened: Stream[] = [];
  const exchange = {
    startStream(start: StreamStart) {
      const socket = new Stream(start);
      opened.push(socket);
      return { socket, isWhole: true };
    },
  } as unknown as Exchange; // The fan-out uses nothing else of it.
  const event = Buffer.from('first');
  fanout.open({ exchange, headers: [], event, caller: callerAt('192.0.2.1'), skipsNext: false });
  const [stream] = opened;
  if (stream === undefined) throw new Error('it was not opened');
  return stream;
}

const eventOf = (name: string) => ({
  bytes: Buffer.from(name),
  whole: () => Buffer.from(`all at ${name}`),
});

function createFanout() {
  const events = { sent: 0, skipped: 0 };
  const deps = {
    clock: new FakeClock(),
    defer: (slice: () => void) => slice(),
    quota: new Quota(),
    events,
    stallLimitSeconds: Number.POSITIVE_INFINITY,
  };
  return { fanout: new EngineFanout(deps, new ViewerCounts()), events };
}

t.test(
  '[I.hub.fleet] [I.hub.stall] a viewer that missed an event gets all, those that did not get what changed',
  async (t) => {
    const { fanout, events } = createFanout();
    const [reader, stalled] = [open(fanout), open(fanout)];
    fanout.publish(eventOf('1'));
    stalled.isFull = true;
    fanout.publish(eventOf('2'));
    fanout.publish(eventOf('3'));
    stalled.drain();
    fanout.publish(eventOf('4'));
    t.strictSame(reader.got, ['first', '1', '2', '3', '4']);
    t.strictSame(stalled.got, ['first', '1', 'all at 3', '4']);
    stalled.isFull = true;
    fanout.publish(eventOf('5'));
    stalled.drain();
    t.equal(stalled.got.at(-1), '5', 'one that came late was not missed');
    t.strictSame(events, { sent: 11, skipped: 1 });
    fanout.close();
  },
);
