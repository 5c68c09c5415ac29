/**
 * The commands as a dimension of the access matrix: with what each operation of HTTP that runs commands is called, and which
 * command of the table that is. An adapter of another protocol is sent the same.
 */
import type { Config } from '#src/config/config.js';
import { OPERATIONS, type Operation, type OperationId } from '#src/wire/operations.js';
import { MEDIA_ACTIONS, type POWER_ACTIONS } from '#src/wire/requests.js';

/** Changes the service, and not the machine: it is no command. */
const NO_COMMAND = 'muteEvents';

/** The operations that run a command. */
export type CommandOperation = Exclude<
  {
    readonly [Id in OperationId]: (typeof OPERATIONS)[Id] extends { readonly method: 'POST' } ? Id : never;
  }[OperationId],
  typeof NO_COMMAND
>;

export interface CommandCase {
  /** `power.sleep`. */
  readonly command: string;
  readonly params: Readonly<Record<string, unknown>>;
}

const call = (command: string, ...params: readonly CommandCase['params'][]): readonly CommandCase[] =>
  params.map((each) => ({ command, params: each }));

/** In an hour: a machine that falls asleep takes leave of its broker. Only one action can be scheduled. */
const LATER = { delay: 3600 };
const power = (action: (typeof POWER_ACTIONS)[number], ...params: readonly CommandCase['params'][]) =>
  call(`power.${action}`, ...params);

/** The parameters of actions that need a value, the first of them good. */
const VALUES: Readonly<Record<string, readonly CommandCase['params'][]>> = {
  seek: [{ value: 10 }],
  set_volume: [{ value: 30 }, { value: 101 }, {}],
  play: [{}, { player: 'nobody' }],
};

/**
 * The cases in the order in which they are sent: a scheduled act is cancelled. There are fewer than 40, which MQTT
 * accepts in one burst. The compiler reports an operation without cases.
 */
export const COMMAND_CASES: Readonly<Record<CommandOperation, readonly CommandCase[]>> = {
  shutdown: power('shutdown', {}, { delay: -1 }),
  restart: power('restart', {}),
  sleep: power('sleep', LATER),
  hibernate: power('hibernate', LATER),
  lock: power('lock', {}),
  cancelPower: call('power.cancel', {}),
  wake: call('wake.wake', { host: 'nas' }, { host: 'tv' }, {}),
  controlMedia: MEDIA_ACTIONS.flatMap((action) => call(`media.${action}`, ...(VALUES[action] ?? [{}]))),
  killProcess: call('process.kill', { pid: 200 }, { pid: 1 }, { pid: 9999 }, { name: 'helper' }, {}),
  launchProcess: call('process.launch', { app: 'app' }, { app: 'other' }, { app: 'app', args: ['x'] }, {}),
};

export type Features = Config['features'];
const rows: Readonly<Record<OperationId, Operation<keyof Features>>> = OPERATIONS;

/** The operations of HTTP's table that run commands, whatever the types say. */
export const COMMAND_OPERATIONS = Object.entries(rows)
  .filter(([id, { method }]) => method === 'POST' && id !== NO_COMMAND)
  .map(([id]) => id);

/** A case with the operation it is called by over HTTP. */
export interface AdapterCase extends CommandCase {
  readonly operation: Operation<keyof Features>;
}

export const ADAPTER_CASES: readonly AdapterCase[] = Object.entries(COMMAND_CASES).flatMap(([id, cases]) =>
  // The table's own keys are operations.
  cases.map((each) => ({ ...each, operation: rows[id as OperationId] })),
);

/** By the table of HTTP's operations. */
export const isOn = ({ operation: { feature } }: AdapterCase, features: Features): boolean =>
  feature === undefined || features[feature];

/** `group`: `power`; `action`: `sleep`. */
export function partsOf(command: string): { readonly group: string; readonly action: string } {
  const [group = '', action = ''] = command.split('.');
  return { group, action };
}

export interface Outcome {
  readonly isDone: boolean;
  /** The error's code; undefined where the adapter does not send it. */
  readonly code: string | undefined;
  readonly message: string | undefined;
}

/** The request of a case over HTTP; `target`: below `/api`. */
export function httpRequestOf({ operation: { path, method, body }, command, params }: AdapterCase) {
  const { group, action } = partsOf(command);
  const isJson = body === 'json';
  const query = new URLSearchParams(
    Object.entries(params).map(([name, value]): [string, string] => [name, String(value)]),
  );
  return {
    target: `${path.slice('/api'.length)}${isJson ? '' : `?${query}`}`,
    method,
    ...(isJson && { body: JSON.stringify(group === 'media' ? { action, ...params } : params) }),
  };
}

/** Sends the case over HTTP. */
export async function overHttp(
  baseUrl: string,
  key: string,
  each: AdapterCase,
): Promise<Outcome & { readonly text: string }> {
  const { target, ...request } = httpRequestOf(each);
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const answer = await fetch(`${baseUrl}/api${target}`, { ...request, headers });
  const text = await answer.text();
  // The documented shape of replies and errors.
  const { code, message, error } = (text === '' ? {} : JSON.parse(text)) as Record<
    string,
    string | undefined
  >;
  // The four media actions of the contract are answered alike however they went.
  const isDone = answer.status === 200 && answer.headers.get('x-media-delivered') !== 'false';
  return {
    isDone,
    code: code ?? answer.headers.get('x-error-code') ?? undefined,
    message: message ?? error,
    text,
  };
}
