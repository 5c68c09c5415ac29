/** The blocks of configuration in docs/operating.md: what operators copy is what the tests run. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Places, ProxyProgram } from './programs.ts';

const PAGE = readFileSync(path.resolve(import.meta.dirname, '../../../../../docs/operating.md'), 'utf8');

/** The root of a host name, or below `/pc/`. */
export type Where = '/' | '/pc/';

/** The port of the service in the blocks. */
const SERVICE = '127.0.0.1:9990';

/** `text` with `by` in place of `wanted`. Throws where it is not in it once. */
export function replaced(text: string, wanted: string, by: string): string {
  const parts = text.split(wanted);
  if (parts.length !== 2) throw new Error(`${wanted} stands ${parts.length - 1} times in ${text}`);
  return parts.join(by);
}

/** The page has two blocks per proxy: one for the root, one for a path. */
function blockFor(name: string, where: Where): string {
  const blocks = [...PAGE.matchAll(new RegExp(`^\`\`\`${name}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))];
  if (blocks.length !== 2) throw new Error(`${blocks.length} blocks for ${name}`);
  return blocks[where === '/' ? 0 : 1]?.[1] ?? '';
}

/** The block with the ports and names of a test. */
export function configOf(
  program: ProxyProgram,
  where: Where,
  places: Places,
  servicePort: number,
  edit: (block: string) => string,
): string {
  const own: readonly (readonly [string, string])[] = [
    [SERVICE, `127.0.0.1:${servicePort}`],
    ...program.replacements(places),
  ];
  const block = own.reduce((text, [wanted, by]) => replaced(text, wanted, by), blockFor(program.name, where));
  return program.frame(edit(block), places);
}
