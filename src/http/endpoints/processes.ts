/** The routes of processes: lists, details, and a door to `process.kill`. */
import type { Commands } from '../../commands/command.ts';
import { ServiceError } from '../../errors.ts';
import { checkDetails, checkList, listable, type ProcessQueries } from '../../processes/queries.ts';
import { parseJsonObject } from '../body.ts';
import { paramsOf } from '../query.ts';
import { featureDisabledAnswer, jsonAnswer } from '../reply.ts';
import type { Request, Route } from '../routes.ts';
import type { Answer } from '../uws/exchange.ts';

export interface ProcessRoutesOptions {
  readonly commands: Commands;
  /** undefined: processes can't be seen here. */
  readonly queries: ProcessQueries | undefined;
}

const PATH = '/api/processes';

const QUERY_TYPES = { numbers: ['limit'], booleans: ['grouped'] };

export function processRoutes({ commands, queries }: ProcessRoutesOptions): readonly Route[] {
  return [
    {
      path: PATH,
      methods: {
        GET: {
          feature: 'enable_processes',
          run: async ({ query, headers }) =>
            jsonAnswer(await listable(queries).list(checkList(paramsOf(query, QUERY_TYPES))), headers),
        },
      },
    },
    {
      path: `${PATH}/*`,
      methods: {
        GET: {
          feature: 'enable_processes',
          run: async ({ exchange, headers }) =>
            jsonAnswer(await findDetails(listable(queries), exchange.head.path), headers),
        },
      },
    },
    {
      path: `${PATH}/kill`,
      methods: {
        POST: {
          body: 'json',
          feature: 'enable_process_control',
          run: (request) => kill(commands, request),
        },
      },
    },
  ];
}

/** A number is a process's, unless something is called that. */
async function findDetails(queries: ProcessQueries, path: string) {
  const text = decode(path.slice(PATH.length + 1));
  const name = checkDetails({ name: text });
  try {
    return await queries.details(name);
  } catch (error) {
    const isUnknown = error instanceof ServiceError && error.code === 'process_not_found';
    if (!isUnknown || !/^\d{1,10}$/.test(text)) throw error;
    return await queries.details(checkDetails({ pid: Number(text) }));
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new ServiceError('invalid_value', 'The name is not percent-encoded UTF-8.');
  }
}

async function kill(commands: Commands, request: Request): Promise<Answer> {
  const outcome = await commands.invoke('process.kill', parseJsonObject(request.body));
  if (outcome === 'feature_disabled') return featureDisabledAnswer(request.headers);
  return jsonAnswer(outcome.result, request.headers);
}
