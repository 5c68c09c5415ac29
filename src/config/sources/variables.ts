/** Reads settings from environment variables: `HOSTWIRE_`, then the key in capitals with `_` for each dot. */
import { ROWS, variableOf } from '../rows/key-table.ts';
import type { Row } from '../rows/row.ts';
import { type Parsed, parse } from './parse.ts';

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
  /** undefined: the name is not that of a key. */
  readonly setting: { readonly key: string; readonly row: Row<unknown>; readonly parsed: Parsed } | undefined;
}

/** The variables that are settings, or look like one. */
export function listVariables(variables: Readonly<Record<string, string | undefined>>): readonly Variable[] {
  return Object.entries(variables).flatMap(([name, text = '']): Variable[] => {
    if (!name.toUpperCase().startsWith(PREFIX) || isServiceLink(name, text)) return [];
    const key = KEY_OF.get(name);
    const row = key === undefined ? undefined : ROWS.get(key);
    if (key !== undefined && row !== undefined)
      return [{ name, setting: { key, row, parsed: parseText(text, row, key.split('.')) } }];
    return name === FILE || name === CLIENT_KEY ? [] : [{ name, setting: undefined }];
  });
}

/** A value of another type than its row's stays a text, which the row then refuses. */
function parseText(text: string, { type }: Row<unknown>, path: readonly string[]): Parsed {
  const isList = type === 'list of strings';
  if (text.trimStart().startsWith(isList ? '[' : '{') && (isList || type === 'map'))
    return parse(text, 'JSON', path);
  return { value: parseScalar(text, type), lines: new Map(), problems: [] };
}

function parseScalar(text: string, type: string): unknown {
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  if ((type === 'integer' || type === 'number') && /^-?\d+(?:\.\d+)?$/u.test(text)) return Number(text);
  if (type !== 'list of strings') return text;
  const items = text.split(',').map((item) => item.trim());
  return items.filter((item) => item !== '');
}
