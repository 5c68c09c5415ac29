/** The configurations of docs/metrics.md. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

const PAGE = readFileSync(path.resolve(import.meta.dirname, '../../../../docs/metrics.md'), 'utf8');
const BLOCKS = [...PAGE.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text);

/** The one block that has all of these words. */
export function blockWith(...words: readonly string[]): string {
  const found = BLOCKS.filter((text) => words.every((word) => text.includes(word)));
  if (found.length !== 1) throw new Error(`${found.length} blocks have ${words.join(', ')}`);
  return found[0] ?? '';
}
