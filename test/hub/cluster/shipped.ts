/** Files of packaging/ with the ports and folders of a test. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

export const PACKAGING = path.resolve(import.meta.dirname, '../../../../../packaging');

export const shipped = (name: string): string => readFileSync(path.join(PACKAGING, name), 'utf8');

export type Replacement = readonly [wanted: string, by: string];

/** `text` with each replacement done wherever it applies. Throws where it does not apply at all. */
export function edited(text: string, replacements: readonly Replacement[]): string {
  return replacements.reduce((done, [wanted, by]) => {
    if (!done.includes(wanted)) throw new Error(`${wanted} is not in the shipped file`);
    return done.replaceAll(wanted, by);
  }, text);
}
