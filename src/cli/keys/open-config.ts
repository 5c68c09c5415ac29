/** Opens the shipped configuration to clients with a key, by rewriting marked lines of it. */
import { chmodSync, chownSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { formatPlace } from '../../config/checks/problems.ts';
import type { Loaded } from '../../config/load.ts';
import { replaceFile } from './replace-file.ts';
import { type KeyLine, openLines, SHIPPED_LINES, type ShippedKey } from './shipped-lines.ts';

/** The bytes of a file as a string of as many characters. */
const BYTES = 'latin1';

/** A configuration file, its text once it is open, and the lines that differ. */
export interface Opening {
  readonly file: string;
  readonly after: string;
  readonly lines: readonly KeyLine[];
}

/** Returns where a key is set; undefined if it has its default, or comes from no file. */
function findLine({ origins, sources }: Loaded, key: ShippedKey): (KeyLine & { file: string }) | undefined {
  const origin = origins.get(key);
  for (const file of sources.files) {
    const line = Number(origin?.startsWith(`${file}:`) === true ? origin.slice(file.length + 1) : NaN);
    if (origin === formatPlace(file, line)) return { key, file, line };
  }
  return undefined;
}

/** Returns what would open these keys; undefined if their lines are not as shipped, or not all in one file. */
export function planOpening(loaded: Loaded, keys: readonly ShippedKey[]): Opening | undefined {
  const places = keys.flatMap((key) => findLine(loaded, key) ?? []);
  const [first] = places;
  if (first === undefined || places.length < keys.length) return undefined;
  const { file } = first;
  if (places.some((place) => place.file !== file)) return undefined;
  const lines = places.map(({ key, line }) => ({ key, line }));
  const after = openLines(readFileSync(file, BYTES), lines);
  return after === undefined ? undefined : { file, after, lines };
}

/** The new lines, as messages show them. */
export const linesIn = ({ file, lines }: Opening): readonly string[] =>
  lines.map(({ key, line }) => `${formatPlace(file, line)}: ${SHIPPED_LINES[key].open.trim()}`);

/** Replaces the text of a file; mode and owner stay. `hasOwners`: false on Windows, where a new file has the rights of its folder. */
export function replaceText(file: string, text: string, hasOwners: boolean): void {
  // The target of a link is replaced, and the link stays.
  const target = realpathSync(file);
  const status = statSync(target);
  replaceFile(target, Buffer.from(text, BYTES), (temporary) => {
    if (hasOwners) setOwner(temporary, status);
  });
}

function setOwner(
  file: string,
  { uid, gid, mode }: { readonly uid: number; readonly gid: number; readonly mode: number },
): void {
  const own = statSync(file);
  if (own.uid !== uid || own.gid !== gid) chownSync(file, uid, gid);
  chmodSync(file, mode & 0o777);
}
