/** What a hub asks for once: each answer is the JSON of the same question over HTTP, by the same flags. */
import type { Media } from '../../../commands/media.ts';
import type { Power } from '../../../commands/power.ts';
import type { CurrentConfig } from '../../../config/current.ts';
import type { Config } from '../../../config/schema.ts';
import type { ServiceError } from '../../../errors.ts';
import type { Params } from '../../../params.ts';
import type { checkDetails, checkList, listable, ProcessQueries } from '../../../processes/queries.ts';
import type { SampleSource } from '../../../stats/source.ts';
import type { View } from '../../../stats/view.ts';
import type { SystemPayload } from '../../../wire/system.ts';
import type { SectionBits } from './want.ts';

/** Functions of the service: this bundle has no module in common with it. */
export interface HubTools {
  readonly sectionBits: SectionBits;
  readonly viewOf: (sections: number, withDetail: boolean) => View;
  readonly checkList: typeof checkList;
  readonly checkDetails: typeof checkDetails;
  readonly listable: typeof listable;
  /** Makes the error of a feature that is off. */
  readonly featureDisabled: (name: string) => ServiceError;
}

export interface AnswerRooms {
  readonly config: CurrentConfig;
  readonly sampler: Pick<SampleSource, 'latest'>;
  readonly media: Pick<Media, 'status'>;
  readonly power: Pick<Power, 'status'>;
  /** Absent where the host has no processes. */
  readonly queries: ProcessQueries | undefined;
  readonly readSystem: (withDetail: boolean) => Promise<SystemPayload>;
  readonly tools: HubTools;
}

/** A row: the flag that allows it, and the answer as JSON. `client`: whose turn it costs. */
interface Question {
  readonly feature?: keyof Config['features'];
  readonly answer: (rooms: AnswerRooms, params: Params, client: string) => string | Promise<string>;
}

/** By the name that a hub asks with. */
export const QUESTIONS: Readonly<Record<string, Question>> = {
  // The feedback has the clock.
  clock: { answer: () => '{}' },
  system: {
    answer: async ({ readSystem }, { detail }) => JSON.stringify(await readSystem(detail === true)),
  },
  usage: {
    async answer({ sampler, tools }, { sections, detail }) {
      const names: readonly unknown[] = Array.isArray(sections) ? sections : Object.keys(tools.sectionBits);
      let wanted = 0;
      for (const [name, bit] of Object.entries(tools.sectionBits)) if (names.includes(name)) wanted |= bit;
      const view = tools.viewOf(wanted, detail === true);
      return (await sampler.latest(view)).json(view);
    },
  },
  power: { answer: async ({ power }) => JSON.stringify(await power.status()) },
  media: {
    feature: 'enable_media',
    async answer({ media }, { player, detail }) {
      const name = typeof player === 'string' && player !== '' ? player : undefined;
      return JSON.stringify(await media.status(name, detail === true));
    },
  },
  processes: {
    feature: 'enable_processes',
    answer: ({ queries, tools }, params, client) =>
      tools.listable(queries).list(tools.checkList(params), client),
  },
  process: {
    feature: 'enable_processes',
    answer: ({ queries, tools }, params, client) =>
      tools.listable(queries).details(tools.checkDetails(params), client),
  },
};

/** The answer as JSON; undefined: there is no such question. Rejects with ServiceError. */
export async function answerTo(
  rooms: AnswerRooms,
  what: unknown,
  params: Params,
  client: string,
): Promise<string | undefined> {
  const question = typeof what === 'string' && Object.hasOwn(QUESTIONS, what) ? QUESTIONS[what] : undefined;
  if (question === undefined) return undefined;
  const { feature, answer } = question;
  if (feature !== undefined && !rooms.config.current.features[feature])
    throw rooms.tools.featureDisabled(feature);
  return await answer(rooms, params, client);
}
