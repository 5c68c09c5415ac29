/** The way to an agent that the hub connects to: requests over HTTP, on connections that are kept. */
import { ServiceError } from '../../errors.ts';
import { isQuestion } from '../../machine/requests.ts';
import { AgentClock, type ClockReading } from '../host/agent-clock.ts';
import { type Ask, type Asker, type HostAnswer, NOBODY, type Reach, sharerOf } from '../host/ask.ts';
import { readJsonObject } from '../host/json.ts';
import type { HubParts } from '../host/parts.ts';
import { BUSY, type Call, Calls, FULL } from '../pull/calls.ts';
import { isLost, type Lost, type SentRequest, type WholeAnswer } from '../pull/connection.ts';
import { type Failure, whyWrong } from '../pull/socket.ts';
import type { Target } from '../pull/target.ts';
import { errorIn, headerOf, hostNameIn, unreachable } from './replies.ts';
import { requestOfCommand, requestOfQuestion } from './requests.ts';

type Found = WholeAnswer | Lost;

export interface PulledEvents {
  /** A connection was closed that carried nothing, or could not be opened. */
  onTrouble(): void;
}

const READ = { isRepeatable: true, isUrgent: false };
const CHECK = { isRepeatable: true, isUrgent: true };
const COMMAND = { isRepeatable: false, isUrgent: true };

const NO_HOSTWIRE: Failure = { isRefusal: false, reason: 'what answers there is no hostwire' };
const MALFORMED: Failure = { isRefusal: false, reason: 'its answer is malformed' };
const JSON_TYPE = 'application/json';
const PICTURE = /^image\/(?:png|jpeg|gif|webp)$/;
const TAG = /^"[\x21\x23-\x7e]{1,128}"$/;
const CLOCK = /^([0-9a-f]{1,64}) (\d{1,15})$/;

export class Pulled implements Reach {
  readonly #parts: HubParts;
  readonly #events: PulledEvents;
  readonly #calls: Calls;
  readonly #agentClock = new AgentClock();

  constructor(parts: HubParts, target: Target, events: PulledEvents) {
    this.#parts = parts;
    this.#events = events;
    this.#calls = new Calls(parts.clock, target, () => {
      // Another run may come: its clock is another one.
      this.#agentClock.forget();
      events.onTrouble();
    });
  }

  close(): void {
    this.#calls.close();
  }

  /**
   * Whether the agent is there and takes this hub: HEAD of its stream, which the key and the address are judged for; no
   * sample is taken. With `withName` its hardware instead, which has the name of the machine.
   */
  async check(limitMs: number, withName: boolean): Promise<Failure | { readonly name?: string }> {
    const deadlineMs = this.#parts.clock.now() + limitMs;
    const headers = () => this.#hubHeader([]);
    const check = { ...CHECK, who: sharerOf(NOBODY) };
    const found = withName
      ? await this.#call({ method: 'GET', path: '/api/system', headers }, check, deadlineMs)
      : await this.#head(NOBODY, deadlineMs);
    if (found === BUSY || found === FULL) return {};
    if (isLost(found)) return found;
    const wrong = whyWrong(found, withName ? JSON_TYPE : 'text/event-stream');
    if (wrong !== undefined) return wrong;
    if (!withName) return {};
    const name = hostNameIn(found.bytes);
    return name === undefined ? NO_HOSTWIRE : { name };
  }

  async ask(ask: Ask): Promise<HostAnswer> {
    return isQuestion(ask.what) ? await this.#read(ask) : await this.#command(ask);
  }

  async #head(who: Asker, deadlineMs: number): Promise<Found> {
    const headers = () => this.#hubHeader([]);
    const kind = { ...CHECK, who: sharerOf(who) };
    return await this.#call({ method: 'HEAD', path: '/api/stream', headers }, kind, deadlineMs);
  }

  async #read({ what, params, who, clients, deadlineMs }: Ask): Promise<HostAnswer> {
    if (!isQuestion(what)) throw new ServiceError('unknown_action', 'There is no such question.');
    const kind = { ...READ, who: sharerOf(who), clients };
    const found = await this.#call(requestOfQuestion(what, params), kind, deadlineMs);
    if (isLost(found)) throw found.reason === FULL.reason ? crowded() : unreachable(found);
    const type = what === 'art' ? PICTURE : /^application\/json/;
    if (found.status !== 200) throw errorIn(found) ?? unreachable(whyWrong(found, JSON_TYPE));
    if (!type.test(headerOf(found, 'content-type'))) throw unreachable(NO_HOSTWIRE);
    if (what !== 'art' && !isJson(found)) throw unreachable(MALFORMED);
    return answerOf(found);
  }

  async #command({ what, params, who, deadlineMs }: Ask): Promise<HostAnswer> {
    const request = requestOfCommand(what, params);
    await this.#prove(who, deadlineMs);
    const { clock } = this.#parts;
    const headers = () => {
      const deadline = this.#agentClock.at(deadlineMs, clock.now());
      if (deadline === undefined) return undefined;
      return this.#hubHeader([
        `client=${who.address || 'unknown'}`,
        ...(who.key === undefined ? [] : [`key=${who.key}`]),
        `run=${deadline.run}`,
        `deadline=${deadline.clock}`,
      ]);
    };
    const untilMs = deadlineMs + this.#parts.times.answerMs + waitOf(params);
    const kind = { ...COMMAND, who: sharerOf(who) };
    const found = await this.#call({ ...request, headers }, kind, deadlineMs, untilMs);
    if (isLost(found)) {
      if (found.isSent) throw unknown(found);
      throw found.reason === FULL.reason ? crowded() : unreachable(found);
    }
    const { status } = found;
    if (status === 200 && headerOf(found, 'content-type').startsWith(JSON_TYPE)) {
      if (!isJson(found)) throw unknown(MALFORMED);
      return answerOf(found);
    }
    const error = status === 200 ? undefined : errorIn(found);
    if (error !== undefined) throw error;
    // A proxy between has given up, or something else answers there.
    if (status === 200 || status >= 500) throw unknown({ reason: `it answers with ${status}` });
    throw unreachable(whyWrong(found, JSON_TYPE));
  }

  /**
   * Before a command: the connection has answered lately, and the agent's clock is known. Rejects with ServiceError: nothing
   * was sent that could do something.
   */
  async #prove(who: Asker, deadlineMs: number): Promise<void> {
    const { clock } = this.#parts;
    const isKnown = () => this.#agentClock.at(deadlineMs, clock.now()) !== undefined;
    if (this.#calls.isFresh && isKnown()) return;
    const found = await this.#head(who, deadlineMs);
    const failure = isLost(found) ? found : whyWrong(found, 'text/event-stream');
    if (failure !== undefined) throw failure.reason === FULL.reason ? crowded() : unreachable(failure);
    if (!isKnown())
      throw unreachable({ isRefusal: false, reason: 'its version takes no commands from hubs' });
  }

  async #call(
    request: SentRequest,
    kind: Pick<Call, 'isRepeatable' | 'isUrgent' | 'who' | 'clients'>,
    deadlineMs: number,
    untilMs = deadlineMs,
  ): Promise<Found> {
    const { counters, clock } = this.#parts;
    const before = this.#calls.begun;
    const found = await this.#calls.call({ ...request, ...kind, deadlineMs, untilMs });
    counters.connections += this.#calls.begun - before;
    if (isLost(found)) {
      counters.failures++;
      if (!found.isSent && found !== FULL) this.#events.onTrouble();
      return found;
    }
    const reading = clockIn(found);
    if (reading !== undefined) this.#agentClock.take(reading, clock.now());
    return found;
  }

  #hubHeader(parts: readonly string[]): string {
    return `X-Hostwire-Hub: ${[this.#parts.name, ...parts].join('; ')}\r\n`;
  }
}

/** Whether it may be passed on to those who asked, and to sockets together with what other machines send. */
const isJson = ({ bytes }: WholeAnswer) => readJsonObject(bytes) !== undefined;

const crowded = () => new ServiceError('too_many_requests', 'Too many requests wait for this machine.');

const unknown = ({ reason }: Pick<Failure, 'reason'>) =>
  new ServiceError('outcome_unknown', 'The command was sent; it is unknown whether it was done.', { reason });

/** `process.kill` answers when the processes have ended, or this has passed. */
const waitOf = ({ timeout_ms: wait }: Ask['params']) =>
  typeof wait === 'number' && wait > 0 && wait <= 60_000 ? wait : 0;

function clockIn(answer: WholeAnswer): ClockReading | undefined {
  const [, run, clock] = CLOCK.exec(headerOf(answer, 'x-hostwire-clock')) ?? [];
  return run === undefined ? undefined : { run, clock: Number(clock) };
}

function answerOf(answer: WholeAnswer): HostAnswer {
  const delivered = headerOf(answer, 'x-media-delivered');
  const etag = headerOf(answer, 'etag');
  return {
    type: headerOf(answer, 'content-type'),
    bytes: answer.bytes,
    ...(delivered === 'true' || delivered === 'false' || delivered === 'unknown' ? { delivered } : {}),
    ...(TAG.test(etag) ? { etag } : {}),
  };
}
