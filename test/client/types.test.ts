/** The examples of the docs compile, in a browser's project and in Node's; so do the client's own sources in a page's. */
import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import ts from 'typescript';
import { PROGRAMS } from '../helpers/docs/examples.ts';

const ROOT = path.resolve(import.meta.dirname, '../../../..');
const examples = PROGRAMS.map(({ text }) => text);
const needsNode = (example: string) => example.includes("from 'ws'");
const needsPage = (example: string) => example.includes('new EventSource');

const SHARED: ts.CompilerOptions = {
  strict: true,
  noEmit: true,
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  skipLibCheck: true,
  paths: { 'hostwire/client': [path.join(ROOT, 'dist/client/client.d.ts')] },
  typeRoots: [path.join(ROOT, 'node_modules/@types')],
};

/** The files of the standard library and of packages: parsing them takes as long as the checks. */
const parsed = new Map<string, ts.SourceFile | undefined>();

function mistakes(files: readonly string[], options: ts.CompilerOptions): readonly string[] {
  const all = { ...SHARED, ...options };
  const host = ts.createCompilerHost(all);
  const parse = host.getSourceFile;
  host.getSourceFile = (name, ...rest) => {
    if (!name.includes('/node_modules/')) return parse(name, ...rest);
    if (!parsed.has(name)) parsed.set(name, parse(name, ...rest));
    return parsed.get(name);
  };
  const program = ts.createProgram(files, all, host);
  return ts
    .getPreEmitDiagnostics(program)
    .map(
      ({ file, start, messageText }) =>
        `${file?.fileName}:${start}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`,
    );
}

function written(folder: string, texts: readonly string[]): readonly string[] {
  return texts.map((text, i) => {
    const file = path.join(folder, `example${i}.ts`);
    writeFileSync(file, text);
    return file;
  });
}

/** Only a project that imports the sources, as the dashboard does, needs the extensions. */
const BROWSER = {
  allowImportingTsExtensions: true,
  lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'],
  types: [],
};
const NODE = { lib: ['lib.es2022.d.ts'], types: ['node', 'ws'] };

t.test('there are examples of each kind', async (t) => {
  t.ok(examples.some(needsNode));
  t.ok(examples.some(needsPage));
  t.ok(examples.filter((example) => !needsNode(example)).length >= 5);
  t.ok(PROGRAMS.some(({ page }) => page === 'README.md'));
});

t.test("in a browser's project", async (t) => {
  const files = written(
    t.testdir(),
    examples.filter((example) => !needsNode(example)),
  );
  const own = readdirSync(path.join(ROOT, 'src/client'))
    // Loaded on Node alone.
    .filter((file) => file !== 'pinned.ts')
    .map((file) => path.join(ROOT, 'src/client', file));
  t.strictSame(mistakes([...files, ...own], BROWSER), []);
});

t.test("in Node's project", async (t) => {
  // Inside the project, so that ws is found.
  const extra =
    "import { connect } from 'hostwire/client';\nconnect({ url: 'http://pc', WebSocket }).close();\n";
  const folder = t.testdir();
  const wsTypes = { ws: [path.join(ROOT, 'node_modules/@types/ws/index.d.mts')] };
  const files = written(folder, [...examples.filter((example) => !needsPage(example)), extra]);
  t.strictSame(mistakes(files, { ...NODE, paths: { ...SHARED.paths, ...wsTypes } }), []);
});

t.test('types follow what was asked for', async (t) => {
  const wrong = [
    "import { streamStats } from 'hostwire/client';",
    "streamStats({ url: '', fields: ['cpu'], onSample: (s) => s.memory });",
    "streamStats({ url: '', onSample: (s) => s.sensors });",
    "streamStats({ url: '', fields: ['cup'], onSample: () => undefined });",
    "streamStats({ url: '', detail: true, onSample: (s) => s.cpu?.current_load.toFixed() });",
    "streamStats({ url: '', fields: ['gpu'], detail: true, onSample: (s) => s.gpu?.devices.length });",
    "streamStats({ url: '', onSample: (s) => s.cpu?.current_load.toFixed() });",
  ];
  const [file = ''] = written(t.testdir(), [wrong.join('\n')]);
  const found = mistakes([file], BROWSER);
  const lines = found.map((text) => {
    const at = Number(/\.ts:(\d+):/.exec(text)?.[1]);
    return wrong.join('\n').slice(0, at).split('\n').length;
  });
  t.strictSame(lines, [2, 3, 4, 5], found.join('\n'));
});
