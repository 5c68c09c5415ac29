/** Names of series with several subjects, `disk.read/MOUNT`: made once each, because every sample needs all of them. */
import { REMEMBERED } from '../fairness/limits.ts';

const byBase = new Map<string, Map<string | number, string>>();
let size = 0;

export function nameOf(base: string, which: string | number): string {
  let names = byBase.get(base);
  const known = names?.get(which);
  if (known !== undefined) return known;
  if (size++ >= REMEMBERED.seriesNames) {
    byBase.clear();
    size = 1;
    names = undefined;
  }
  if (names === undefined) {
    names = new Map();
    byBase.set(base, names);
  }
  const name = `${base}/${which}`;
  names.set(which, name);
  return name;
}

/** Returns `battery_power` of a detail as `battery.power`: the name up to its first `_` is the section. */
export function dotted(name: string): string {
  const known = dottedNames.get(name);
  if (known !== undefined) return known;
  const at = name.indexOf('_');
  const made = at < 0 ? `${name}.count` : `${name.slice(0, at)}.${name.slice(at + 1)}`;
  dottedNames.set(name, made);
  return made;
}

/** Cache of the names of details, which are few, because they are those of a table. */
const dottedNames = new Map<string, string>();
