/** Sends the cases of the matrix of commands over HTTP, over MQTT and through a hub, and compares the outcomes. */
import type { Feedback } from '#src/exporters/mqtt/commands/command-adapter.js';
import type { Witness } from '../../exporters/mqtt/broker.ts';
import type { ServiceHere } from '../../helpers/service/service.ts';
import { until } from '../../helpers/until.ts';
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
type HubFeedback = Feedback & { readonly run: string; readonly clock: number };

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
  #asked = 0;
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

  /** The first answer to every case, in their order, as a hub at the same broker gets it. `base`: of the agent. */
  async hub(base: string): Promise<readonly Feedback[]> {
    const answers = () => this.#hubAnswers(`${base}/hub/feedback/${HUB}`);
    const ask = async (topic: string, payload: object) => {
      const id = `${base} hub ${this.#asked++}`;
      const envelope = { hub: HUB, id, client: '192.0.2.7', key: 'default', ...payload };
      await this.#witness.say(`${base}/hub/cmd/${topic}`, JSON.stringify(envelope));
      await until(() => answers().has(id), `an answer to ${id} ${topic}`);
      const answer = answers().get(id);
      present = answer ?? present;
      return answer;
    };
    let present: Pick<HubFeedback, 'run' | 'clock'> = { run: '', clock: 0 };
    await ask('get', { what: 'clock' });
    const found: Feedback[] = [];
    const cases = ADAPTER_CASES.map((each, index) => ({ ...each, index }));
    await inTurns(cases, async ({ index, command, params }) => {
      const { group, action } = partsOf(command);
      // By the clock of its last answer, because the machine may be slow.
      const { run, clock } = present;
      const answer = await ask(`${group}/${action}`, { run, deadline: clock + 29_000, params });
      if (answer !== undefined) found[index] = answer;
    });
    return found;
  }

  #hubAnswers(topic: string): ReadonlyMap<string, HubFeedback> {
    const answers = new Map<string, HubFeedback>();
    for (const text of this.#witness.on(topic)) {
      const feedback = JSON.parse(text) as HubFeedback;
      if (!answers.has(String(feedback.id))) answers.set(String(feedback.id), feedback);
    }
    return answers;
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
