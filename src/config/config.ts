/** The checked configuration: its type, its defaults, and access by dotted keys. */
import { isRow, KEY_GROUPS, type KEYS, type KeyGroup } from './rows/key-table.ts';
import type { Row } from './rows/row.ts';

type Values<G> = { readonly [K in keyof G]: G[K] extends Row<infer T> ? T : Values<G[K]> };

/**
 * The checked configuration, deeply frozen. `auth.api_key` holds the key also when it came from
 * `auth.api_key_file` (which is then an absolute path); undefined: none is configured.
 */
export type Config = Values<typeof KEYS>;

/** Nests `dotted key → value`; a key that is missing has its value in `base`, or its default without one. */
export function toConfig(values: ReadonlyMap<string, unknown>, base?: Config): Config {
  const nest = (group: KeyGroup, prefix: string): object =>
    Object.fromEntries(
      Object.entries(group).map(([name, entry]) => {
        const key = `${prefix}${name}`;
        if (!isRow(entry)) return [name, nest(entry, `${key}.`)];
        if (values.has(key)) return [name, values.get(key)];
        return [name, base === undefined ? entry.default : readKey(base, key)];
      }),
    );
  // Every key of the table is there, and each value was checked by its row, from which Config is derived.
  return deepFreeze(nest(KEY_GROUPS, '') as Config);
}

/** Freezes everything but typed arrays, which JavaScript cannot freeze. */
function deepFreeze<T>(value: T): T {
  // A frozen one is of an earlier load, or a default.
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value) && !ArrayBuffer.isView(value)) {
    for (const inner of Object.values(value)) deepFreeze(inner);
    Object.freeze(value);
  }
  return value;
}

/** The value of a dotted key. */
export function readKey(config: Config, key: string): unknown {
  // Only keys of the table are asked for.
  return key
    .split('.')
    .reduce<unknown>((group, name) => (group as Readonly<Record<string, unknown>>)[name], config);
}

export const DEFAULT_CONFIG: Config = toConfig(new Map());

/** Returns whether a configuration is that of a hub, which has machines to show. */
export const isOfHub = ({ hub }: Pick<Config, 'hub'>): boolean =>
  Object.keys(hub.agents).length > 0 || Object.keys(hub.brokers).length > 0;
