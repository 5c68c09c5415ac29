/** The routes of processes: lists, details, and a door to `process.kill`. */
import type { Commands, Params } from '../commands/command.ts';
import { ServiceError } from '../errors.ts';
import { parseJsonObject } from './body.ts';
import type { Answer } from './exchange.ts';
import { checkDetails, checkList, type ProcessQueries } from './process-queries.ts';
import { featureDisabledAnswer, jsonAnswer } from './reply.ts';
import type { Request, Route } from './routes.ts';

export interface ProcessRoutesOptions {
  readonly commands: Commands;
  /** undefined: processes can't be seen here. */
  readonly queries: ProcessQueries | undefined;
}

const PATH = '/api/processes';

export function processRoutes({ commands, queries }: ProcessRoutesOptions): readonly Route[] {
  const asked = (): ProcessQueries => {
    if (queries !== undefined) return queries;
    throw new ServiceError('not_supported', 'Processes can not be listed here.', {
      reason: 'not on this system',
    });
  };
  return [
    {
      path: PATH,
      methods: {
        GET: {
          feature: 'enable_processes',
          run: async ({ query, headers }) =>
            jsonAnswer(await asked().list(checkList(paramsOf(query))), headers),
        },
      },
    },
    {
      path: `${PATH}/*`,
      methods: {
        GET: {
          feature: 'enable_processes',
          run: async ({ exchange, headers }) =>
            jsonAnswer(await findDetails(asked(), exchange.head.path), headers),
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

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['1', true],
  ['true', true],
  ['0', false],
  ['false', false],
]);

/** What is no number or boolean goes on as it came, and what is given twice as a list: the check refuses it. */
function paramsOf(query: URLSearchParams): Params {
  const params: Record<string, unknown> = {};
  for (const key of new Set(query.keys())) {
    const [value = '', ...more] = query.getAll(key);
    if (more.length > 0) params[key] = [value, ...more];
    else if (key === 'limit' && /^\d+$/.test(value)) params[key] = Number(value);
    else if (key === 'grouped') params[key] = BOOLEANS.get(value) ?? value;
    else params[key] = value;
  }
  return params;
}
