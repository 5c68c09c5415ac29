/** The routes of power: each action is a door to its row in the table of commands. */
import type { Commands, Params } from '../commands/command.ts';
import type { PowerPayload } from '../wire/power.ts';
import type { Answer } from './exchange.ts';
import { featureDisabledAnswer, jsonAnswer } from './reply.ts';
import type { Request, Route } from './routes.ts';

export interface PowerRoutesOptions {
  readonly commands: Commands;
  readonly readStatus: () => Promise<PowerPayload>;
}

const PREFIX = 'power.';

export function powerRoutes({ commands, readStatus }: PowerRoutesOptions): readonly Route[] {
  return [
    {
      path: '/api/pw',
      methods: { GET: { run: async ({ headers }) => jsonAnswer(await readStatus(), headers) } },
    },
    ...commands.names
      .filter((name) => name.startsWith(PREFIX))
      .map(
        (name): Route => ({
          path: `/api/pw/${name.slice(PREFIX.length)}`,
          methods: { POST: { body: 'ignored', run: (request) => invoke(commands, name, request) } },
        }),
      ),
  ];
}

async function invoke(commands: Commands, name: string, request: Request): Promise<Answer | undefined> {
  const outcome = await commands.invoke(name, paramsOf(request.query));
  if (outcome === 'feature_disabled') return featureDisabledAnswer(request.headers);
  const answer = jsonAnswer(outcome.result, request.headers);
  if (outcome.onDelivered === undefined) return answer;
  request.exchange.answerAndClose(answer, outcome.onDelivered);
  return undefined;
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['1', true],
  ['true', true],
  ['0', false],
  ['false', false],
]);

/** What a query can't say as a number or a boolean goes on as it came: the command refuses it. */
function paramsOf(query: URLSearchParams): Params {
  const params: Record<string, unknown> = {};
  const delay = onlyValue(query, 'delay');
  if (delay !== undefined)
    params['delay'] = typeof delay === 'string' && /^\d+(\.\d+)?$/.test(delay) ? Number(delay) : delay;
  const force = onlyValue(query, 'force');
  if (force !== undefined)
    params['force'] = typeof force === 'string' ? (BOOLEANS.get(force) ?? force) : force;
  return params;
}

/** One that is given twice says nothing clear: all its values are handed on. */
function onlyValue(query: URLSearchParams, name: string): string | readonly string[] | undefined {
  const values = query.getAll(name);
  return values.length > 1 ? values : values[0];
}
