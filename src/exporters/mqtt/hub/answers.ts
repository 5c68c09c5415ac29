/** What a hub asks for once: each answer is the JSON of the same question over HTTP, by the same flags. */
import type { Media } from '../../../commands/media.ts';
import type { requestedPicture } from '../../../commands/media-art.ts';
import type { Power } from '../../../commands/power.ts';
import type { Config } from '../../../config/config.ts';
import type { CurrentConfig } from '../../../config/current.ts';
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
  readonly requestedPicture: typeof requestedPicture;
  /** Makes the error of a feature that is off. */
  readonly featureDisabled: (name: string) => ServiceError;
}

/** An answer about the past, and its version. */
interface PastAnswer {
  readonly json: string;
  readonly tag: string;
}

/** As HistoryQueries. */
interface PastQueries {
  series(params: Params, client: string): Promise<PastAnswer>;
  processesAt(params: Params, client: string): Promise<PastAnswer>;
}

export interface AnswerRooms {
  readonly config: CurrentConfig;
  readonly sampler: Pick<SampleSource, 'latest'>;
  readonly media: Pick<Media, 'status' | 'art'>;
  readonly power: Pick<Power, 'status'>;
  /** Absent where the host has no processes. */
  readonly queries: ProcessQueries | undefined;
  readonly history: PastQueries;
  readonly readSystem: (withDetail: boolean) => Promise<SystemPayload>;
  readonly tools: HubTools;
}

/** What a hub is answered: JSON, and its version where HTTP has an ETag. */
export interface Reply {
  readonly json: string;
  readonly etag?: string;
  /** A longer one is not sent. */
  readonly maxBytes: number;
}

type Found = string | Pick<Reply, 'json' | 'etag'>;

/** A row: the flag that allows it, and the answer as JSON. `client`: whose turn it costs. */
interface Question {
  readonly feature?: keyof Config['features'];
  readonly maxBytes?: number;
  readonly answer: (rooms: AnswerRooms, params: Params, client: string) => Found | Promise<Found>;
}

/** Half of what a broker takes by default at least (nats-server: 1 MiB). */
const MAX_ANSWER_BYTES = 512 * 1024;
/** A cover has up to 1 MiB, and a third more in a message: nearly all that such a broker takes. */
const MAX_PICTURE_BYTES = 1016 * 1024;

const tagged = ({ json, tag: etag }: PastAnswer) => ({ json, etag });

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
  art: {
    feature: 'enable_media',
    maxBytes: MAX_PICTURE_BYTES,
    async answer({ media, tools }, params) {
      const { type, bytes } = await tools.requestedPicture(media, params);
      return JSON.stringify({ type, base64: bytes.toString('base64') });
    },
  },
  history: {
    answer: async ({ history }, params, client) => tagged(await history.series(params, client)),
  },
  process_history: {
    feature: 'enable_processes',
    answer: async ({ history }, params, client) => tagged(await history.processesAt(params, client)),
  },
};

/** The answer; undefined: there is no such question. Rejects with ServiceError. */
export async function answerTo(
  rooms: AnswerRooms,
  what: unknown,
  params: Params,
  client: string,
): Promise<Reply | undefined> {
  const question = typeof what === 'string' && Object.hasOwn(QUESTIONS, what) ? QUESTIONS[what] : undefined;
  if (question === undefined) return undefined;
  const { feature, answer, maxBytes = MAX_ANSWER_BYTES } = question;
  if (feature !== undefined && !rooms.config.current.features[feature])
    throw rooms.tools.featureDisabled(feature);
  const found = await answer(rooms, params, client);
  return { ...(typeof found === 'string' ? { json: found } : found), maxBytes };
}
