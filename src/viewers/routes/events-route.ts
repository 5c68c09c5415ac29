/** GET /api/events: the events of a machine as JSON, or as a stream that continues after `Last-Event-ID`. */
import { audit } from '../../commands/audit.ts';
import { REMEMBERED } from '../../fairness/limits.ts';
import { type EventBook, withoutCause } from '../../history/event-book.ts';
import { parseJsonObject } from '../../http/body.ts';
import { jsonAnswer } from '../../http/reply.ts';
import type { Request, Run } from '../../http/routes.ts';
import type { Log } from '../../log/log.ts';
import { eventsParamsIn } from '../../machine/requests.ts';
import { checkParams } from '../../params.ts';
import { allows } from '../../scopes.ts';
import type { Fanout } from '../../streams/fanout.ts';
import type { Streams } from '../../streams/streams.ts';
import type { MachineEvent, MuteList } from '../../wire/events.ts';
import { eventsRequest, muteRequest } from '../../wire/requests.ts';
import { checkCapacity, type StreamRouteDeps, streamHead } from './stream-route.ts';

/** The headers that decide on the answer. */
export const EVENTS_HEADERS: readonly string[] = ['accept', 'last-event-id'];

export interface EventsRouteDeps extends Pick<StreamRouteDeps, 'gate' | 'hasCapacity'> {
  readonly events: EventBook;
  readonly log: Pick<Log, 'audit'>;
  readonly streams: Pick<Streams, 'create'>;
}

const DIGITS = /^\d{1,15}$/;

/** The last event that a client had: by the header that browsers send when they connect again, or the query. */
function lastIdOf({ exchange, query }: Request): number | undefined {
  const id = exchange.head.headers.get('last-event-id')?.at(-1) ?? query.get('since') ?? '';
  // Another number is never answered with an error: EventSource gives up permanently on one.
  return id === '' ? undefined : DIGITS.test(id) ? Number(id) : 0;
}

const lineOf = (event: MachineEvent): string =>
  `id: ${event.id}\nevent: event\ndata: ${JSON.stringify(event)}\n\n`;

/** Sent where events are missing: the stream continues with what there is. */
const missingLine = (id: number): string => `id: ${id}\nevent: missing\ndata: {"since":${id}}\n\n`;

/**
 * Events of this time are one piece: a stream that the writer has not come to since the last piece misses all but the newest,
 * and it has this long for ten thousand.
 */
const PIECE_MS = 100;

/** The streams of clients that may see the same. */
class EventStreams {
  readonly #book: EventBook;
  readonly #shown: (event: MachineEvent) => MachineEvent;
  readonly fanout: Fanout;
  /** Beginnings of streams by the number that clients had: thousands connect again together. */
  readonly #beginnings = new Map<number | undefined, Buffer>();
  /** Not published yet. */
  #lines = '';

  constructor({ events, streams }: EventsRouteDeps, shown: (event: MachineEvent) => MachineEvent) {
    this.#book = events;
    this.#shown = shown;
    this.fanout = streams.create({
      begin: () =>
        events.onEvent((event) => {
          this.#beginnings.clear();
          if (this.#lines === '') setTimeout(() => this.#publish(), PIECE_MS).unref();
          this.#lines += lineOf(shown(event));
        }),
    });
  }

  /** What a client that had event `id` is sent first; without a number: what lasts. */
  beginningAfter(id: number | undefined): Buffer {
    // It has them already.
    this.#publish();
    // There is no listener without a stream: what was kept may lack the events since.
    if (this.fanout.size === 0) this.#beginnings.clear();
    const known = this.#beginnings.get(id);
    if (known !== undefined) return known;
    const { events, isIncomplete } =
      id === undefined ? { events: this.#book.open, isIncomplete: false } : this.#book.since(id);
    const lines = events.map((event) => lineOf(this.#shown(event)));
    if (isIncomplete) lines.unshift(missingLine(id ?? 0));
    // The number alone, which browsers send when they connect again: events that last may be older than it.
    const beginning = Buffer.from(`${lines.join('')}id: ${this.#book.last}\n\n`);
    if (this.#beginnings.size >= REMEMBERED.beginnings) this.#beginnings.clear();
    this.#beginnings.set(id, beginning);
    return beginning;
  }

  #publish(): void {
    if (this.#lines === '') return;
    const { last } = this.#book;
    this.fanout.publish({ bytes: Buffer.from(this.#lines), whole: () => Buffer.from(missingLine(last)) });
    this.#lines = '';
  }
}

export function eventsRun(deps: EventsRouteDeps): Run {
  const { events, gate } = deps;
  const withCause = new EventStreams(deps, (event) => event);
  const bare = new EventStreams(deps, withoutCause);
  return (request) => {
    const { exchange, client, headers } = request;
    const { method, headers: sent } = exchange.head;
    const seesProcesses = allows(client.scopes, 'processes');
    if (!(sent.get('accept')?.join() ?? '').includes('text/event-stream'))
      return jsonAnswer(
        events.list(checkParams(eventsRequest, eventsParamsIn(request)), seesProcesses),
        headers,
      );
    if (method === 'HEAD') return streamHead(headers);
    checkCapacity(deps, request);
    const streams = seesProcesses ? withCause : bare;
    const event = streams.beginningAfter(lastIdOf(request));
    streams.fanout.open({ exchange, headers, event, caller: gate.keep(client), skipsNext: false });
    return undefined;
  };
}

export const muteRun =
  ({ events: { mutes }, log }: Pick<EventsRouteDeps, 'events' | 'log'>): Run =>
  ({ body, client, headers }) => {
    const { what, seconds, reason } = checkParams(muteRequest, parseJsonObject(body));
    mutes.mute(what, seconds, reason);
    const name = seconds === 0 ? 'events.unmute' : 'events.mute';
    audit(log, { name, caller: client }, 'done', { name: what });
    const payload: MuteList = { mutes: mutes.list };
    return jsonAnswer(payload, headers);
  };
