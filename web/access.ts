/** The scopes of this page, those of its key or of a guest: the page shows nothing else. */
import type { ClientAccess } from '../src/wire/service.ts';
import { TEXTS } from './texts.ts';
import { useValue, Value } from './value.ts';

export type { ClientAccess };

/** Undefined until the service has answered. */
export const access = new Value<ClientAccess | undefined>(undefined);

/** Returns whether `scopes` include `needed`, as themselves or in a group. */
export const allows = (scopes: readonly string[], needed: string): boolean =>
  scopes.some(
    (scope) => scope === needed || scope === 'admin' || (scope === 'power' && needed.startsWith('power.')),
  );

export const may = (scope: string): boolean => allows(access.current?.scopes ?? [], scope);

/** Returns a `may` that renders the component again when the answer may be another. */
export function useMay(): (scope: string) => boolean {
  const scopes = useValue(access)?.scopes ?? [];
  return (scope) => allows(scopes, scope);
}

/** Returns a line about the limits of a client; undefined if it has none. */
export function limitsOf({ key, scopes, expires }: ClientAccess): string | undefined {
  if (scopes.includes('admin') && expires === null) return undefined;
  const names = scopes.includes('admin') ? TEXTS.access.everything : scopes.join(', ');
  const line = TEXTS.access.line(key, names === '' ? TEXTS.access.nothing : names);
  return expires === null ? line : TEXTS.access.until(line, new Date(1000 * expires));
}
