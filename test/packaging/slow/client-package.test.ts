/** The npm package of the client: packed, installed into an empty folder, used under each runtime and by TypeScript. */
import '../../helpers/service/dead-buses.ts';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import t from 'tap';
import ts from 'typescript';
import { openPage, skipBrowser, startBrowser } from '../../browser/browser.ts';
import { PROGRAMS } from '../../helpers/docs/examples.ts';
import { Installed } from '../../helpers/docs/installed.ts';
import { bytesIn, installOffline, pack } from '../../helpers/packages.ts';
import { emptyFolder } from '../../helpers/scope.ts';
import { serveProgram } from '../../helpers/service/service.ts';

t.setTimeout(1_200_000);

const ROOT = path.resolve(import.meta.dirname, '../../../../..');
const { OTHER_NODES, provideNode } = (await import(path.join(ROOT, 'scripts/nodes.mjs'))) as {
  readonly OTHER_NODES: readonly string[];
  readonly provideNode: (version: string) => Promise<string>;
};

const folder = emptyFolder(t);
const installed = path.join(folder, 'node_modules/@hostwire/client');
writeFileSync(path.join(folder, 'package.json'), '{"name": "app", "type": "module"}');
installOffline(t, [pack(folder, '@hostwire/client')], folder);

/** Two samples of the stream, a request, and a WebSocket where there is one; prints what it did. */
const USE = `
  const samples = [];
  await new Promise((resolve, reject) => {
    const stream = streamStats({ url, fields: ['memory'], onSample: (sample) => {
      samples.push(sample);
      if (samples.length === 2) { stream.close(); resolve(); }
    }, onState: ({ state, error }) => { if (state === 'closed' && error) reject(error); } });
  });
  const { data } = await request('/api/status', { url });
  let total = 0;
  if (globalThis.WebSocket !== undefined) {
    const socket = connect({ url });
    await socket.ping();
    total = (await socket.get(['stats.memory'])).stats.memory.used;
    socket.close();
  }
  return samples.every(({ memory }) => memory.used > 0) + ' ' + JSON.stringify(data) + ' ' + (total > 0);
`;
const IMPORT = "import { connect, request, streamStats } from '@hostwire/client';";
const program = path.join(folder, 'program.mjs');
writeFileSync(
  program,
  `${IMPORT}\nconst url = process.argv[2];\nconsole.log(await (async () => {${USE}})());\n`,
);

const pages = new Map<string, string>();
const server = createServer(({ url = '' }, answer) => {
  answer.setHeader('content-type', url.endsWith('.js') ? 'text/javascript' : 'text/html').end(pages.get(url));
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
t.teardown(() => server.close());
const address = server.address();
const origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;

const service = await serveProgram(t, {
  config: { stats: { stream_interval_seconds: 1 }, server: { cors_origins: [origin] } },
});

const run = promisify(execFile);
async function outputOf(command: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await run(command, [...args, program, service.baseUrl], {
    cwd: folder,
    timeout: 120_000,
  });
  return stdout.trim();
}

const wanted = (hasSocket: boolean) => `true {"status":"ok"} ${hasSocket}`;

t.test('[9.package-client] it has no dependency, and both names are the same client', async (t) => {
  t.strictSame(readdirSync(path.join(folder, 'node_modules')).sort(), ['.package-lock.json', '@hostwire']);
  const read = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string };
  t.equal(read(path.join(installed, 'package.json')).version, read(path.join(ROOT, 'package.json')).version);
  t.same(
    readFileSync(path.join(installed, 'dist/client/client.js')),
    readFileSync(path.join(ROOT, 'dist/client/client.js')),
  );
  t.ok(['README.md', 'LICENSE'].every((name) => readdirSync(installed).includes(name)));
  t.comment(`figure: ${Math.round(bytesIn(installed) / 1000)} kB installed`);
});

t.test('[9.package-client] under each Node', async (t) => {
  t.equal(await outputOf(process.execPath), wanted('WebSocket' in globalThis), process.version);
  for (const version of OTHER_NODES)
    t.equal(await outputOf(await provideNode(version)), wanted(!version.startsWith('20.')), version);
});

t.test('[9.package-client] under Deno and Bun', async (t) => {
  const runtimes = new Installed(t, ['deno@2.9.6', 'bun@1.4.5']);
  const inside = (file: string) => path.join(runtimes.folder, 'node_modules', file);
  const deno = ['run', '--allow-net', '--no-prompt'];
  t.equal(await outputOf(inside('.bin/deno'), ...deno), wanted(true), 'Deno');
  // Its command is laid out by an install script; the binary is there without it.
  t.equal(await outputOf(inside('@oven/bun-linux-x64/bin/bun'), 'run'), wanted(true), 'Bun');
});

t.test('[9.package-client] as files in a page', { skip: skipBrowser }, async (t) => {
  pages.set(
    '/',
    `<script type="importmap">{"imports": {"@hostwire/client": "/client.js"}}</script><script type="module">
      ${IMPORT} const url = ${JSON.stringify(service.baseUrl)};
      document.title = await (async () => {${USE}})().catch(String);</script>`,
  );
  pages.set('/client.js', readFileSync(path.join(installed, 'dist/client/client.js'), 'utf8'));
  const opened = await openPage(t, await startBrowser(t));
  await opened.page.goto(origin);
  await opened.page.waitForFunction('document.title !== ""');
  t.equal(await opened.page.title(), wanted(true));
});

t.test('[9.package-client] TypeScript, strict, with each resolution', async (t) => {
  const examples = PROGRAMS.filter(
    ({ text }) => !text.includes("from 'ws'") && !text.includes('new EventSource'),
  );
  t.ok(examples.length >= 3, `${examples.length} examples`);
  const files = examples.map(({ text }, i) => {
    const file = path.join(folder, `example${i}.ts`);
    writeFileSync(file, text.replaceAll("'hostwire/client'", "'@hostwire/client'"));
    return file;
  });
  const ways = {
    node16: { module: ts.ModuleKind.Node16, moduleResolution: ts.ModuleResolutionKind.Node16 },
    nodenext: { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext },
    bundler: { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler },
  };
  for (const [name, way] of Object.entries(ways)) {
    const options: ts.CompilerOptions = {
      strict: true,
      noEmit: true,
      target: ts.ScriptTarget.ES2022,
      types: [],
      // The declarations are checked too.
      lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'],
      skipLibCheck: false,
      ...way,
    };
    const found = ts.getPreEmitDiagnostics(ts.createProgram(files, options));
    const texts = found.map(
      ({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`,
    );
    t.strictSame(texts, [], name);
  }
});
