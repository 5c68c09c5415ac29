/**
 * The ids of the contract are well-formed. docs/troubleshooting.md quotes only messages that the service prints. Every link of a
 * page leads somewhere.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

interface Statement {
  readonly ids: readonly string[];
  readonly statement: string;
  readonly file: string;
}

const { isId, statements } = (await import(
  new URL('../../../scripts/contract.mjs', import.meta.url).href
)) as {
  isId(text: string): boolean;
  statements(): readonly Statement[];
};

t.test('each id of the contract in the name of a test is well-formed, and is there once', async (t) => {
  const all = statements();
  t.ok(new Set(all.flatMap(({ ids }) => ids)).size > 200);
  for (const { ids, file } of all) {
    t.strictSame(
      ids.filter((id) => !isId(id)),
      [],
      `${file}: ids`,
    );
    t.equal(new Set(ids).size, ids.length, `${file}: ${ids.join(', ')}`);
  }
});

/** All texts of a folder, with literals that are split over lines joined. */
function textsBelow(folder: string): string {
  return readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(?:ts|cc|h|txt)$/.test(file))
    .map((file) => readFileSync(path.join(ROOT, folder, file), 'utf8'))
    .join('\n')
    .replaceAll(/(['"`])\s*\+?\n\s*\1/g, '');
}

t.test('docs/troubleshooting.md quotes messages that exist, and codes that exist', async (t) => {
  const guide = readFileSync(path.join(ROOT, 'docs/troubleshooting.md'), 'utf8');
  const tables = guide.split('\n\n').filter((block) => block.startsWith('| message |'));
  const quoted = tables.flatMap((table) =>
    table
      .split('\n')
      .slice(2)
      .flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, text = '']) => text)),
  );
  const inRemedies = [...guide.matchAll(/`([^`]+ …)`/g)].map(([, text = '']) => text);
  const fragments = [...quoted, ...inRemedies].flatMap((text) => text.split('…').map((part) => part.trim()));
  // The tests quote what sources put together.
  const texts = ['src', 'native', 'test/config', 'test/contract', 'test/packaging']
    .map(textsBelow)
    .join('\n');
  const long = fragments.filter((fragment) => fragment.length >= 8);
  t.ok(long.length > 15, `${long.length} fragments`);
  for (const fragment of long) t.ok(texts.includes(fragment), `"${fragment}" is printed somewhere`);
  for (const [, code = ''] of guide.matchAll(/^\| \d{3} `([a-z_]+)`/gm))
    t.ok(texts.includes(`'${code}'`) || texts.includes(`${code}:`), `${code} is a code`);
});

/** Returns the anchors that GitHub gives the headings of a page. */
const anchorsOf = (file: string): ReadonlySet<string> =>
  new Set(
    [...readFileSync(path.join(ROOT, file), 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );

t.test('every link between pages leads to a file, and to a heading of it', async (t) => {
  const folders = ['docs', 'packaging', 'packages/client', 'test/vm', '.'];
  const pages = folders.flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: folder !== '.', encoding: 'utf8' })
      .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
      .map((name) => path.posix.join(folder, name.replaceAll(path.sep, '/'))),
  );
  t.ok(pages.length > 25, `${pages.length} pages`);
  for (const page of pages) {
    const text = readFileSync(path.join(ROOT, page), 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, '');
    for (const [, link = '', anchor] of text.matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)/g)) {
      const target = link === '' ? page : path.posix.join(path.posix.dirname(page), link);
      if (!existsSync(path.join(ROOT, target))) t.fail(`${page}: ${target} does not exist`);
      else if (anchor !== undefined && !anchorsOf(target).has(anchor))
        t.fail(`${page}: ${target} has no heading #${anchor}`);
    }
  }
});

t.test('docs/README.md is the index of all pages, and README.md leads to it', async (t) => {
  const index = readFileSync(path.join(ROOT, 'docs/README.md'), 'utf8');
  const linked = [...index.matchAll(/\]\(([\w/-]+\.md)\)/g)].map(([, page = '']) => page);
  const pages = readdirSync(path.join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll(path.sep, '/'))
    .filter((name) => name.endsWith('.md') && name !== 'README.md');
  t.strictSame(linked.sort(), pages.sort(), 'each once');
  const readme = readFileSync(path.join(ROOT, 'README.md'), 'utf8');
  t.match(readme, '](docs/README.md)');
  t.notMatch(readme, /^\| to \| read \|$/m, 'which has no second table of them');
});

t.test('docs/architecture.md: the walks have as many files as they say, and these exist', async (t) => {
  const guide = readFileSync(path.join(ROOT, 'docs/architecture.md'), 'utf8');
  const [, section = ''] = /^## Walks\n([\s\S]*?)^## /m.exec(guide) ?? [];
  const walks = section.split('\n').filter((line) => line.startsWith('- '));
  t.equal(walks.length, 7);
  for (const walk of walks) {
    const [, name = '', count] = /^- \*\*(.*?)\*\* \((\d+)/.exec(walk) ?? [];
    const files = [...walk.matchAll(/`((?:src|native)\/[^`]+)`/g)].map(([, file = '']) => file);
    // That of a new detail is a table elsewhere.
    if (files.length > 0) t.equal(files.length, Number(count), name);
    t.strictSame(
      files.filter((file) => !existsSync(path.join(ROOT, file))),
      [],
      name,
    );
  }
});
