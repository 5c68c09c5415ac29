/** Processes over HTTP: lists, details, and the commands `process.kill` and `process.launch`. */
import type { Commands } from '../../commands/command.ts';
import { ServiceError } from '../../errors.ts';
import { checkDetails, checkList, listable, type ProcessQueries } from '../../processes/queries.ts';
import { OPERATIONS } from '../../wire/operations.ts';
import { paramsOf } from '../query.ts';
import { jsonTextAnswer } from '../reply.ts';
import type { Request, Runs } from '../routes.ts';
import { runJsonCommand } from './json-command.ts';
import { PROCESS_QUERY } from './query-types.ts';

/** What stands before the name in the path of one process. */
const NAME_PREFIX = OPERATIONS.getProcess.path.slice(0, -1);

export interface ProcessRooms {
  readonly commands: Commands;
  /** undefined: processes cannot be listed on this platform. */
  readonly processQueries: ProcessQueries | undefined;
}

export function processRuns({
  commands,
  processQueries: queries,
}: ProcessRooms): Runs<'listProcesses' | 'getProcess' | 'killProcess' | 'launchProcess'> {
  return {
    async listProcesses({ query, headers, client }) {
      const params = checkList(paramsOf(query, PROCESS_QUERY));
      return jsonTextAnswer(await listable(queries).list(params, client.address), headers);
    },
    getProcess: async (request) =>
      jsonTextAnswer(await findDetails(listable(queries), request), request.headers),
    killProcess: (request) => runJsonCommand(commands, 'process.kill', request),
    launchProcess: (request) => runJsonCommand(commands, 'process.launch', request),
  };
}

/** A number is a pid, unless a process has it as its name. */
async function findDetails(queries: ProcessQueries, { exchange, client }: Request) {
  const text = decode(exchange.head.path.slice(NAME_PREFIX.length));
  const name = checkDetails({ name: text });
  try {
    return await queries.details(name, client.address);
  } catch (error) {
    const isUnknown = error instanceof ServiceError && error.code === 'process_not_found';
    if (!isUnknown || !/^\d{1,10}$/.test(text)) throw error;
    return await queries.details(checkDetails({ pid: Number(text) }), client.address);
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new ServiceError('invalid_value', 'The name is not percent-encoded UTF-8.');
  }
}
