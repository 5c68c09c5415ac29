/** The machine that the service runs on: answers the questions of the table, and carries out its commands. */
import type { Caller } from '../access/caller.ts';
import { type Follower, type Outcome, type Report, sentenceOf } from '../commands/command.ts';
import type { Media } from '../commands/media.ts';
import { requestedPicture } from '../commands/media-art.ts';
import type { Power } from '../commands/power.ts';
import type { CurrentConfig } from '../config/current.ts';
import { featureDisabled, ServiceError } from '../errors.ts';
import type { EventBook } from '../history/event-book.ts';
import type { HistoryQueries } from '../history/queries.ts';
import { ALL_SECTIONS, SECTION_BITS, SECTIONS } from '../host/host.ts';
import { Listeners } from '../listeners.ts';
import { checkParams, type Params } from '../params.ts';
import { checkDetails, checkList, listable, type ProcessQueries } from '../processes/queries.ts';
import type { Sampler } from '../stats/sampler.ts';
import { type View, viewOf } from '../stats/view.ts';
import type { MachineSample, MachineSink, MachineSubscription } from '../streams/sample.ts';
import { eventsRequest, mediaParams, mediaRequest } from '../wire/requests.ts';
import type { SystemPayload } from '../wire/system.ts';
import type { Commands } from './commands.ts';
import type {
  CommandEnd,
  FollowedTopic,
  Machine,
  MachineAnswer,
  MachineRequest,
  TopicSink,
} from './machine.ts';
import { isQuestion, type Question, REQUESTS, type RequestRow } from './requests.ts';

export interface LocalMachineDeps {
  readonly config: CurrentConfig;
  readonly sampler: Pick<Sampler, 'attach' | 'peek' | 'latest' | 'nextTickInMs' | 'intervalMs'>;
  readonly media: Pick<Media, 'status' | 'art' | 'onChange'>;
  readonly power: Pick<Power, 'status' | 'onChange' | 'onFeedback'>;
  /** undefined: processes are not supported on this platform. */
  readonly processes: ProcessQueries | undefined;
  readonly history: Pick<HistoryQueries, 'isOn' | 'series' | 'processesAt'>;
  readonly events: Pick<EventBook, 'list' | 'onEvent'>;
  readonly commands: Pick<Commands, 'prepare' | 'refuseDisabled' | 'names' | 'onReport'>;
  readonly readSystem: (withDetail: boolean) => Promise<SystemPayload>;
}

/** `client`: whose turn the answer costs. */
type Answer = (deps: LocalMachineDeps, params: Params, client: string) => Promise<MachineAnswer>;

const json = (payload: unknown): MachineAnswer => ({ bytes: JSON.stringify(payload) });

/** The sections that a list names; all without a list. */
function sectionsIn(names: unknown): number {
  if (!Array.isArray(names)) return ALL_SECTIONS;
  const named: readonly unknown[] = names;
  return SECTIONS.reduce((set, name) => (named.includes(name) ? set | SECTION_BITS[name] : set), 0);
}

const ANSWERS: Readonly<Record<Question, Answer>> = {
  system: async ({ readSystem }, { detail }) => json(await readSystem(detail === true)),
  async usage({ sampler }, { sections, detail }) {
    const view = viewOf(sectionsIn(sections), detail === true);
    return { bytes: (await sampler.latest(view)).payload(view) };
  },
  power: async ({ power }) => json(await power.status()),
  async media({ media }, params) {
    const { player } = checkParams(mediaParams, { player: params['player'] });
    return json(await media.status(player, params['detail'] === true));
  },
  art: async ({ media }, params) => await requestedPicture(media, params),
  processes: async ({ processes }, params, client) => ({
    bytes: await listable(processes).list(checkList(params), client),
  }),
  process: async ({ processes }, params, client) => ({
    bytes: await listable(processes).details(checkDetails(params), client),
  }),
  history: async ({ history }, params, client) => await history.series(params, client),
  process_history: async ({ history }, params, client) => await history.processesAt(params, client),
  events: async ({ events }, params) =>
    json(events.list(checkParams(eventsRequest, params), params['processes'] !== false)),
};

/** The subject of a question in the sentence of an error. */
const SUBJECTS: Readonly<Partial<Record<keyof CurrentConfig['current']['features'], string>>> = {
  enable_media: 'media',
  enable_processes: 'processes',
};

export class LocalMachine implements Machine {
  /** The one machine of a service. */
  readonly id = '';
  /** It answers, or nothing does. */
  readonly condition = {};
  /** The ends of all commands, wherever they came from. */
  readonly ends = new Listeners<readonly [end: CommandEnd]>();
  readonly #deps: LocalMachineDeps;

  constructor(deps: LocalMachineDeps) {
    this.#deps = deps;
    deps.commands.onReport((report) => this.#report(report));
    deps.power.onFeedback(({ action, success, message }, followers) => {
      const stage = success ? 'done' : 'failed';
      this.#notify(`power.${action}`, { stage, message }, [...followers]);
    });
  }

  subscribe(view: View, sink?: MachineSink): MachineSubscription {
    const { sampler } = this.#deps;
    const end = sampler.attach({ view, publish: (sample) => sink?.publish(sample) });
    return { newest: () => sampler.peek(view) ?? sampler.latest(view), end };
  }

  first<T>(view: View, begin: (sample: MachineSample, isNextNear: boolean) => T): T | Promise<T> {
    const { sampler } = this.#deps;
    const start = (sample: MachineSample) => begin(sample, sampler.nextTickInMs < sampler.intervalMs / 2);
    const young = sampler.peek(view);
    return young === undefined ? sampler.latest(view).then(start) : start(young);
  }

  async usage(view: View): Promise<Buffer> {
    return (await this.#deps.sampler.latest(view)).payload(view);
  }

  followTopic(name: string, { onChange, onPayload }: TopicSink): FollowedTopic | undefined {
    const { media, power, events } = this.#deps;
    const reliable = (end: () => void) => ({ end, isReliable: true });
    if (name === 'media') return reliable(media.onChange(onChange));
    if (name === 'power') return reliable(power.onChange(onChange));
    if (name !== 'events') return undefined;
    return reliable(events.onEvent((event) => onPayload(JSON.stringify(event))));
  }

  hasEvents(): boolean {
    return this.#deps.history.isOn;
  }

  check(name: string, client: Caller): void {
    this.#deps.commands.refuseDisabled(name, client);
  }

  async ask(request: MachineRequest): Promise<MachineAnswer> {
    const { what, params, client } = request;
    if (!isQuestion(what)) return await this.#command(request);
    this.#checkFlag(REQUESTS.get(what));
    // The clients of a hub share the turns of one client, and take them in turn.
    return await ANSWERS[what](this.#deps, params, turnOf(client));
  }

  #checkFlag(row: RequestRow | undefined): void {
    const feature = row?.feature;
    if (feature !== undefined && !this.#deps.config.current.features[feature])
      throw featureDisabled(SUBJECTS[feature] ?? feature);
  }

  async #command({ what, params, client, follower }: MachineRequest): Promise<MachineAnswer> {
    const { commands } = this.#deps;
    const [group, action] = what.split('.', 2);
    // Its error lists the actions of media, as the contract has it.
    if (group === 'media' && !commands.names.includes(what)) checkParams(mediaRequest, { ...params, action });
    const run = commands.prepare(what, params, client);
    // A power action is accepted only when the machine has answered.
    if (follower?.withBeginning === true) follower.onStep({ stage: 'begun', message: 'Running' });
    const outcome = await run(follower);
    const answer = answerOf(outcome);
    if (outcome.isFollowed === undefined || follower === undefined) return answer;
    const { result, onDelivered } = outcome;
    follower.onStep({ stage: 'accepted', message: sentenceOf(result), ...(onDelivered && { onDelivered }) });
    return answer;
  }

  /** A power action reports its end itself. */
  #report({ name, answer, follower, isRefused }: Report): void {
    if (isRefused || (!(answer instanceof ServiceError) && answer.isFollowed === true)) return;
    const end = answer instanceof ServiceError ? answer : answerOf(answer);
    this.#notify(name, end, follower === undefined ? [] : [follower]);
  }

  #notify(what: string, end: CommandEnd['end'], followers: readonly Follower[]): void {
    this.ends.notify({ host: this.id, what, end, owners: followers.map(({ owner }) => owner) });
  }
}

const answerOf = ({ result, ...outcome }: Outcome): MachineAnswer => ({
  ...outcome,
  bytes: JSON.stringify(result),
});

const turnOf = ({ address, via }: Caller): string => (via === undefined ? address : `${via.hub}|${address}`);
