/** Keys with scopes, made from their names, and the rules of docs/keys.md for what each allows. */
import { describeDigest } from '#src/access/key.js';
import { SCOPES, type Scope } from '#src/scopes.js';

/** `any`: a valid key, whatever it may do; `none`: no key. */
export type Needed = Scope | 'any' | 'none';

/** Two groups, and no other scope includes another. */
export const may = (held: readonly Scope[], needed: Needed): boolean =>
  needed === 'any' ||
  needed === 'none' ||
  held.some(
    (scope) => scope === needed || scope === 'admin' || (scope === 'power' && needed.startsWith('power.')),
  );

export const keyOf = (name: string): string => `${name}-`.padEnd(43, '0');
export const bearer = (name: string) => ({ Authorization: `Bearer ${keyOf(name)}` });

export const keyWith = (name: string, ...scopes: readonly Scope[]) => ({
  digest: describeDigest(keyOf(name)),
  scopes,
});

/** A key for each scope, and one that has expired. The name of a key has no dot. */
export const KEYS = {
  ...Object.fromEntries(SCOPES.map((scope) => [scope.replace('.', '-'), keyWith(scope, scope)])),
  old: { ...keyWith('old', 'admin'), expires: '2020-01-01' },
};
