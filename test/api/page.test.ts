/** docs/api.md: generated from the schemas, complete, and with payloads that are real. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { openapiDocument } from '#src/api/openapi.js';
import { Openapi } from './openapi.ts';

const ROOT = path.resolve(import.meta.dirname, '../../../..');
const page = readFileSync(path.join(ROOT, 'docs/api.md'), 'utf8');
const openapi = new Openapi(openapiDocument('0'));

const { withGenerated } = (await import(path.join(ROOT, 'scripts/api-doc.mjs'))) as {
  withGenerated(text: string): Promise<string>;
};

/** The part below the heading `## title`. */
function partOf(title: string): string {
  const [, after = ''] = page.split(`\n## ${title}\n`);
  return after.split('\n## ')[0] ?? '';
}

/** The text below each `### heading` of `part`, by the heading without backticks. */
function sectionsOf(part: string): ReadonlyMap<string, string> {
  return new Map(
    part
      .split(/^### /m)
      .slice(1)
      .map((section) => [section.split('\n', 1)[0]?.replaceAll('`', '') ?? '', section]),
  );
}

/** The rows of all tables in `section`, each by the heads of its columns. */
function* rowsOf(section: string): Generator<Readonly<Record<string, string>>> {
  const cellsOf = (line: string) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim());
  let heads: readonly string[] = [];
  for (const line of section.split('\n')) {
    if (!line.startsWith('|')) heads = [];
    else if (heads.length === 0) heads = cellsOf(line);
    else if (!line.startsWith('|---'))
      yield Object.fromEntries(cellsOf(line).map((cell, i) => [heads[i] ?? '', cell]));
  }
}

const payloads = sectionsOf(partOf('Payloads'));

t.test('[I.api-page] the page is what scripts/api-doc.mjs writes', async (t) => {
  t.equal(page, await withGenerated(page), 'run: node scripts/api-doc.mjs');
  await t.rejects(
    withGenerated('<!-- begin endpoints -->\n<!-- end endpoints -->'),
    /no markers for payloads/,
  );
  await t.rejects(withGenerated(`${page}<!-- begin more -->\n<!-- end more -->`), /marker "more"/);
});

t.test('[I.api-page] every operation has a request to try, and no other has', async (t) => {
  const sections = sectionsOf(partOf('Endpoints'));
  t.strictSame([...sections.keys()].sort(), [...openapi.names].sort());
  for (const { path: target, method, parameters, feature, isExperimental } of openapi.operations) {
    const name = `${method} ${target}`;
    const section = sections.get(name) ?? '';
    t.match(section, /```sh\ncurl /, `${name} has a curl line`);
    const [, other = name] = /^Parameters as for \[`(.*?)`\]/m.exec(section) ?? [];
    for (const { name: parameter } of parameters)
      t.match(sections.get(other), `| \`${parameter}\` |`, `${name}: ${parameter}`);
    if (feature !== undefined) t.match(section, `features.${feature}`, `${name} names its flag`);
    t.equal(/experimental/i.test(section), isExperimental, `${name}: experimental`);
  }
});

t.test(
  '[I.api-page] every payload has a table, every field a type and a meaning, every quantity a unit',
  async (t) => {
    const named = new Set(
      [...partOf('Endpoints').matchAll(/\[(\w+)\]\(#\w+\)/g)].map(([, name = '']) => name),
    );
    t.ok(named.size > 12, `${named.size} payloads are named by endpoints`);
    for (const name of named) t.ok(payloads.has(name), `${name} has a table`);
    for (const [name, section] of payloads) {
      const rows = [...rowsOf(section)];
      t.ok(rows.length > 0, `${name} has fields`);
      for (const { field = '', type = '', meaning = '' } of rows) {
        t.ok(type !== '' && type !== 'any', `${name}: ${field} has a type`);
        // A link or one literal says it all.
        const isClear = /^\[\w+\]\(#\w+\)$|^`\w+`$/.test(type) || /^`(?:action|pid)`/.test(field);
        t.ok(meaning !== '' || isClear, `${name}: ${field} has a meaning`);
        if (/bytes|_rate|_percent|_watts|_temp|speed|seconds|timestamp|_at\b|_ms\b/i.test(field))
          t.match(type, /, [^,`]+$/, `${name}: ${field} has a unit`);
      }
    }
  },
);

t.test('[I.api-page] every link leads to a heading', async (t) => {
  // As GitHub makes them of headings.
  const anchors = [...page.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );
  const links = new Set([...page.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor));
  t.ok(links.size > 40, `${links.size} links`);
  t.strictSame(
    [...links].filter((link) => !anchors.includes(link ?? '')),
    [],
  );
});
