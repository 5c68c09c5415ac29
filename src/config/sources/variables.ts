/** Reads settings from environment variables: `HOSTWIRE_`, then the key in capitals with `_` for each dot. */
import { ROWS, variableOf } from '../rows/key-table.ts';
import type { Row } from '../rows/row.ts';
import { parseJson } from './parse-json.ts';
import type { Scalar, Tree } from './tree.ts';

const KEY_OF: ReadonlyMap<string, string> = new Map([...ROWS.keys()].map((key) => [variableOf([key]), key]));
const PREFIX = variableOf(['']);

/** The file of the configuration, as `--config` (search.ts). */
const FILE = 'HOSTWIRE_CONFIG';
/** The key that `hostwire top` sends. */
export const CLIENT_KEY = 'HOSTWIRE_KEY';

/** Kubernetes sets these for a service that is called hostwire (or hostwire-hub) in every container of its namespace. */
const OF_SERVICE = /^HOSTWIRE_[A-Z0-9_]+$/u;
const SERVICE_LINK =
  /_SERVICE_HOST$|_SERVICE_PORT(?:_.|$)|_PORT_[0-9]+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?$/u;
const LINK_URL = /^(?:tcp|udp|sctp):\/\//u;

const isServiceLink = (name: string, text: string) =>
  (OF_SERVICE.test(name) && SERVICE_LINK.test(name)) || (name.endsWith('_PORT') && LINK_URL.test(text));

/** Variables that are removed from the environment, which apps that the service launches inherit. */
export const SECRET_VARIABLES: readonly string[] = [...ROWS]
  .filter(([, { isSecret }]) => isSecret === true)
  .map(([key]) => variableOf([key]));

export interface Variable {
  readonly name: string;
  /** The same setting as a file would have it; undefined: the name is not that of a key. */
  readonly tree: Tree | undefined;
}

/** The variables that are settings, or look like one. */
export function listVariables(variables: Readonly<Record<string, string | undefined>>): readonly Variable[] {
  return Object.entries(variables).flatMap(([name, text = '']): Variable[] => {
    if (!name.toUpperCase().startsWith(PREFIX) || isServiceLink(name, text)) return [];
    const key = KEY_OF.get(name);
    const row = key === undefined ? undefined : ROWS.get(key);
    if (key === undefined || row === undefined)
      return name === FILE || name === CLIENT_KEY ? [] : [{ name, tree: undefined }];
    return [{ name, tree: nest(key, parseText(text, row)) }];
  });
}

const nest = (key: string, tree: Tree): Tree =>
  key
    .split('.')
    .reduceRight<Tree>(
      (value, word) => ({ kind: 'map', line: undefined, entries: [{ key: word, line: undefined, value }] }),
      tree,
    );

const scalar = (value: Scalar): Tree => ({ kind: 'scalar', line: undefined, value });

/** A value of another type than its row's stays a text, which the row then refuses. */
function parseText(text: string, { type }: Row<unknown>): Tree {
  if (type === 'boolean' && (text === 'true' || text === 'false')) return scalar(text === 'true');
  if ((type === 'integer' || type === 'number') && /^-?\d+(?:\.\d+)?$/u.test(text))
    return scalar(Number(text));
  if (type === 'list of strings' && !text.trimStart().startsWith('['))
    return { kind: 'list', line: undefined, items: listOf(text).map(scalar) };
  if (type === 'list of strings' || type === 'map')
    return parseJson(text, () => undefined).tree ?? scalar(text);
  return scalar(text);
}

const listOf = (text: string) =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
