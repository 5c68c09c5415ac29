/** Sends the cases of the matrix of commands over HTTP, over MQTT and through a hub, and compares the outcomes. */
import { randomBytes } from 'node:crypto';
import type { Feedback } from '#src/exporters/mqtt/commands/command-adapter.js';
import type { Witness } from '../../exporters/mqtt/broker.ts';
import type { ServiceHere } from '../../helpers/service/service.ts';
import { until } from '../../helpers/until.ts';
import { Joiner, payloadOf, readPayload } from '../../hub/broker/frames.ts';
import {
  ADAPTER_CASES,
  type AdapterCase,
  type Features,
  isOn,
  type Outcome,
  overHttp,
  partsOf,
} from '../command-cases.ts';

export interface Sent extends AdapterCase {
  /** Among the cases. */
  readonly index: number;
  readonly id: string;
  readonly topic: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly isExpected: boolean;
}

/** Every case on the topic of its command or, for each second one and where that topic is absent, of its group. */
export function messagesOf(base: string, features: Features): readonly Sent[] {
  const open = new Set(
    ADAPTER_CASES.filter((each) => isOn(each, features)).map((each) => partsOf(each.command).group),
  );
  return ADAPTER_CASES.flatMap((each, index) => {
    const { group, action } = partsOf(each.command);
    const isAllowed = isOn(each, features);
    const own = { topic: each.command, payload: each.params, isExpected: isAllowed };
    const ofGroup = { topic: group, payload: { action, ...each.params }, isExpected: open.has(group) };
    const chosen = isAllowed ? [index % 2 === 0 ? own : ofGroup] : [own, ofGroup];
    return chosen.map(({ topic, payload, isExpected }) => {
      const id = `${base} ${index} ${topic}`;
      return {
        ...each,
        index,
        id,
        topic: `${base}/command/${topic}`,
        payload: { ...payload, id },
        isExpected,
      };
    });
  });
}

/** The hub that the witness is. */
const HUB = 'home';
interface HubAnswer {
  readonly delivered?: string;
  readonly error?: { readonly code: Feedback['code']; readonly message: string };
}

/** Power one at a time, because of what is scheduled; of the others as many at a time as the adapter runs. */
async function inTurns<Value extends AdapterCase>(
  all: readonly Value[],
  run: (value: Value) => Promise<void>,
): Promise<void> {
  const isPower = ({ command }: Value) => command.startsWith('power.');
  for (const value of all.filter(isPower)) await run(value);
  const others = all.filter((value) => !isPower(value));
  for (let at = 0; at < others.length; at += 10) await Promise.all(others.slice(at, at + 10).map(run));
}

export class Adapters {
  #service: ServiceHere | undefined;
  readonly #witness: Witness;
  readonly #ids = new Set<string>();
  readonly #key: string;
  /** The answers over HTTP. */
  readonly texts: string[] = [];

  /** `key`: that of the service. */
  constructor(witness: Witness, key: string) {
    this.#witness = witness;
    this.#key = key;
  }

  get unexpected(): readonly string[] {
    return [...this.#answers().keys()].filter((id) => !this.#ids.has(id));
  }

  /** The service that is asked from now on. */
  use(service: ServiceHere): void {
    this.#service = service;
  }

  async http(): Promise<readonly Outcome[]> {
    const outcomes: Outcome[] = [];
    const cases = ADAPTER_CASES.map((each, index) => ({ ...each, index }));
    await inTurns(cases, async ({ index, ...each }) => {
      const { text, ...outcome } = await overHttp(this.#service?.baseUrl ?? '', this.#key, each);
      this.texts.push(text);
      outcomes[index] = outcome;
    });
    return outcomes;
  }

  /** The first answer to each message by its id; those that must have none come before one that has. */
  async mqtt(messages: readonly Sent[]): Promise<ReadonlyMap<string, Feedback>> {
    const silent = messages.filter(({ isExpected }) => !isExpected);
    const say = ({ topic, payload }: Sent) => this.#witness.say(topic, JSON.stringify(payload));
    await Promise.all(silent.map(say));
    const expected = messages.filter(({ isExpected }) => isExpected);
    for (const { id } of expected) this.#ids.add(id);
    await inTurns(expected, async (each) => {
      void say(each);
      await until(() => this.#answers().has(each.id), `an answer to ${each.id}`);
    });
    return this.#answers();
  }

  /** The answer to every case, in their order, as a hub at the same broker gets it. `base`: of the machine. */
  async hub(base: string): Promise<readonly Feedback[]> {
    const session = randomBytes(8).toString('hex');
    const answers = this.#joinAnswers(`${base}/out/${HUB}`, session);
    let sent = 0;
    const say = async (text: string) =>
      await this.#witness.say(`${base}/in/${HUB}`, payloadOf(session, sent++, text).toString(), { qos: 0 });
    await say('');
    await until(() => answers().has('connected'), 'the greeting');
    const found: Feedback[] = [];
    const cases = ADAPTER_CASES.map((each, index) => ({ ...each, index }));
    await inTurns(cases, async ({ index, command, params }) => {
      const via = { client: '192.0.2.7', key: 'default' };
      await say(JSON.stringify({ op: 'request', id: index, via, data: { name: command, params } }));
      await until(() => answers().has(index), `an answer to ${command}`);
      const { delivered, error } = answers().get(index) ?? {};
      const success = error === undefined && delivered !== 'false';
      const stage = success ? 'done' : 'failed';
      found[index] = { command, stage, success, message: error?.message ?? '', code: error?.code };
    });
    return found;
  }

  /** Returns the data of `answer` by the id of the request, and of the greeting. */
  #joinAnswers(topic: string, session: string): () => ReadonlyMap<unknown, HubAnswer> {
    const joiner = new Joiner(session);
    const answers = new Map<unknown, HubAnswer>();
    let at = 0;
    return () => {
      for (; at < this.#witness.heard.length; at++) {
        const heard = this.#witness.heard[at];
        const payload = heard?.topic === topic ? readPayload(Buffer.from(heard.text)) : undefined;
        const frame = payload?.session === session ? joiner.take(payload) : undefined;
        if (frame === 'gap') throw new Error('the session has a gap');
        if (frame === undefined) continue;
        const { type, id, data } = JSON.parse(frame.toString());
        if (type === 'answer' || type === 'connected') answers.set(id ?? type, data);
      }
      return answers;
    };
  }

  #answers(): ReadonlyMap<string, Feedback> {
    const answers = new Map<string, Feedback>();
    for (const { topic, text } of this.#witness.heard) {
      if (!topic.endsWith('/feedback')) continue;
      const feedback = JSON.parse(text) as Feedback;
      if (!answers.has(String(feedback.id))) answers.set(String(feedback.id), feedback);
    }
    return answers;
  }
}

/** The difference between the adapters; undefined if there is none. */
export function differenceOf(
  sent: AdapterCase & { readonly isExpected: boolean },
  http: Outcome,
  feedback: Feedback | undefined,
  features: Features,
) {
  const { code, message = '', stage } = feedback ?? {};
  if (!sent.isExpected) return feedback === undefined ? undefined : 'it is answered without a topic';
  const isDone = stage === 'done' || stage === 'accepted';
  if (isDone !== http.isDone) return 'only one adapter did it';
  if ((code === 'feature_disabled') === isOn(sent, features)) return 'its flag is not what decided';
  if (http.code !== undefined && http.code !== code) return 'another code';
  // Reasons, which HTTP has in its details, follow in the same sentence, behind a colon instead of its full stop.
  return http.isDone || http.code === undefined || message.startsWith((http.message ?? '').replace(/\.$/, ''))
    ? undefined
    : 'another sentence';
}
