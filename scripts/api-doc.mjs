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

const ROW = /^\| `([^`]+)`\?? \|/;
/** As without `detail`, where a value that cannot be read is 0 instead of null. */
const plain = (line) => line.replace(/ or null(?=,| \|)/, '').replace('; 0 if it cannot be read.', '.');
const rowsOf = (section) =>
  section
    .split('\n')
    .filter((line) => ROW.test(line))
    .map(plain);
const fieldsOf = (section) => rowsOf(section).map((line) => ROW.exec(line)?.[1]);

/** Returns the section of which `section` has all fields, most of them unchanged; of several the one with most fields. */
function baseOf(section, others) {
  const fields = fieldsOf(section);
  const rows = rowsOf(section);
  return others
    .filter((other) => fieldsOf(other).every((field) => fields.includes(field)))
    .filter((other) => rowsOf(other).filter((row) => rows.includes(row)).length >= 2)
    .toSorted((a, b) => rowsOf(b).length - rowsOf(a).length)[0];
}

/** Returns the payloads without the rows that a payload has in common with one before it, which it names instead. */
function withoutRepetition(payloads) {
  const sections = payloads.split(/^(?=### )/m);
  return sections
    .map((section, at) => {
      const base = baseOf(section, sections.slice(0, at));
      if (base === undefined) return section;
      const name = /^### (\w+)/.exec(base)?.[1] ?? '';
      const repeated = new Set(rowsOf(base));
      const lines = section.split('\n');
      const [heading, ...table] = lines.filter((line) => !repeated.has(plain(line)));
      const isNullable = lines.some((line) => repeated.has(plain(line)) && !base.includes(line));
      const note = isNullable ? ', null where they cannot be read' : '';
      return [
        heading,
        '',
        `The fields of [${name}](#${name.toLowerCase()})${note}, with these added or different:`,
        ...table,
      ].join('\n');
    })
    .join('');
}

/** Returns a link to the section of an endpoint, with the anchor that GitHub makes of its heading. */
const linkTo = (title) =>
  `[\`${title}\`](#${title
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-')})`;

/** Returns the endpoints with each table of parameters once; others with the same parameters name the first. */
function withTablesOnce(endpoints) {
  const firstWith = new Map();
  return endpoints
    .split(/^(?=### )/m)
    .map((section) => {
      const [, title] = /^### `(.*)`/.exec(section) ?? [];
      const [table] = /^\| parameter \|(?:.*\n)+?(?=\n)/m.exec(section) ?? [];
      if (title === undefined || table === undefined) return section;
      const first = firstWith.get(table);
      if (first === undefined) firstWith.set(table, title);
      return first === undefined
        ? section
        : section.replace(table, () => `Parameters as for ${linkTo(first)}.\n`);
    })
    .join('');
}

/** The page with its generated parts rewritten. Throws if a part has no markers, or a marker no part. */
export async function withGenerated(text) {
  const { pageParts } = await import(new URL('../build/ts/src/api/page.js', import.meta.url).href);
  const written = pageParts({ Usage: golden('default') });
  const endpoints = withTablesOnce(written.endpoints);
  const payloads = withoutRepetition(written.payloads);
  const parts = new Map(Object.entries({ ...written, endpoints, payloads }));
  const page = text.replaceAll(/<!-- begin (\w+)[^>]*-->\n[\s\S]*?<!-- end \1 -->/g, (_, name) => {
    const part = parts.get(name);
    if (part === undefined) throw new Error(`docs/api.md has a marker "${name}" without a generated part`);
    parts.delete(name);
    return `<!-- begin ${name}: written by scripts/api-doc.mjs -->\n\n${part}\n\n<!-- end ${name} -->`;
  });
  if (parts.size > 0) throw new Error(`docs/api.md has no markers for ${[...parts.keys()].join(', ')}`);
  return page;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeFileSync(PAGE, await withGenerated(readFileSync(PAGE, 'utf8')));
