/** The status of an agent, published as retained at its beginning and its end. */
import { SCOPES, type Scope } from '../../scopes.ts';
import { readJsonObject } from './json.ts';

export interface Status {
  readonly isOnline: boolean;
  /** Another one after each start. */
  readonly run: string;
  /** Its host name, where it says it. */
  readonly name: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  /** The scopes of this hub's key there; undefined: it may ask for everything. */
  readonly scopes: readonly Scope[] | undefined;
}

const MAX_BYTES = 8192;
const MAX_LABELS = 16;
const RUN = /^[\x21-\x7e]{1,64}$/;
const HOST_NAME = /^[!-~]{1,253}$/;
const LABEL_NAME = /^[A-Za-z0-9_-]{1,64}$/;
const LABEL = /^[^\p{C}]{1,64}$/u;

/** undefined: the message is none. */
export function readStatus(payload: Buffer): Status | undefined {
  const { state, run, name, labels, scopes } =
    (payload.length > MAX_BYTES ? undefined : readJsonObject(payload)) ?? {};
  if ((state !== 'online' && state !== 'offline') || typeof run !== 'string' || !RUN.test(run))
    return undefined;
  return {
    isOnline: state === 'online',
    run,
    name: typeof name === 'string' && HOST_NAME.test(name) ? name : undefined,
    labels: readLabels(labels),
    scopes: readScopes(scopes),
  };
}

/** Returns the known scopes in a list, without duplicates; undefined if `value` is not a list. */
const readScopes = (value: unknown): readonly Scope[] | undefined =>
  Array.isArray(value) ? SCOPES.filter((scope) => value.includes(scope)) : undefined;

/** Returns the valid labels. */
function readLabels(value: unknown): Readonly<Record<string, string>> {
  if (typeof value !== 'object' || value === null) return {};
  const entries = Object.entries(value).filter(
    (entry): entry is [string, string] =>
      LABEL_NAME.test(entry[0]) && typeof entry[1] === 'string' && LABEL.test(entry[1]),
  );
  return Object.fromEntries(entries.slice(0, MAX_LABELS));
}
