// Writes the generated parts of docs/api.md, between its markers, from the schemas and a captured machine.
//   node scripts/api-doc.mjs   (after a build; test/api/page.test.ts fails while the page is not what this would write)
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const PAGE = path.join(root, 'docs/api.md');
/** A laptop with two GPUs, one of them asleep. */
const MACHINE = path.join(root, 'test/fixtures/linux/gpu-amd-laptop');

const golden = (name) => JSON.parse(readFileSync(path.join(MACHINE, `golden/${name}.json`), 'utf8'));

/** The page with its generated parts rewritten. Throws if a part has no markers, or a marker no part. */
export async function withGenerated(text) {
  const { pageParts } = await import(new URL('../build/ts/src/api/page.js', import.meta.url).href);
  const parts = new Map(
    Object.entries(pageParts({ Usage: golden('default'), UsageDetail: golden('detail') })),
  );
  const written = text.replaceAll(/<!-- begin (\w+)[^>]*-->\n[\s\S]*?<!-- end \1 -->/g, (_, name) => {
    const part = parts.get(name);
    if (part === undefined) throw new Error(`docs/api.md has a marker "${name}" without a generated part`);
    parts.delete(name);
    return `<!-- begin ${name}: written by scripts/api-doc.mjs -->\n\n${part}\n\n<!-- end ${name} -->`;
  });
  if (parts.size > 0) throw new Error(`docs/api.md has no markers for ${[...parts.keys()].join(', ')}`);
  return written;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeFileSync(PAGE, await withGenerated(readFileSync(PAGE, 'utf8')));
