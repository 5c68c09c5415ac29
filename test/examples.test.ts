/** The examples of README.md and docs/ do what they say: they run, against a service of this test. */
import './helpers/service/dead-buses.ts';
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import ts from 'typescript';
import { fieldsOf, keysOf, readLine, statusOf } from './helpers/docs/curl.ts';
import {
  addressed,
  BUILD,
  type Ending,
  endOf,
  makeFolder,
  startService,
} from './helpers/docs/example-service.ts';
import { CURL_LINES, OTHER_BLOCKS, PROGRAMS } from './helpers/docs/examples.ts';

// Imports the example, and ends when it has printed something or its work is done. What it leaves unhandled ends it
// with 1. A Node without a WebSocket of its own is given that of ws, as docs/client.md advises.
const RUNNER = `
import { WebSocket } from 'ws';
globalThis.WebSocket ??= WebSocket;
const { log } = console;
const printed = new Promise((resolve) => {
  console.log = (...values) => {
    log(...values);
    resolve();
  };
});
await import(process.argv[2]);
await (process.argv[3] === 'prints' ? printed : undefined);
process.exit(0);
`;

/** Runs a program to its end, or until it has printed something. */
function run(folder: string, text: string, baseUrl: string, hubUrl: string): Promise<Ending> {
  const program = path.join(folder, 'example.mjs');
  const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext };
  writeFileSync(
    program,
    ts.transpileModule(addressed(text, baseUrl, hubUrl), { compilerOptions }).outputText,
  );
  const runner = path.join(folder, 'runner.mjs');
  writeFileSync(runner, RUNNER);
  const args = ['--experimental-eventsource', runner, pathToFileURL(program).href];
  return endOf(spawn(process.execPath, text.includes('console.log') ? [...args, 'prints'] : args));
}

t.test('programs', async (t) => {
  const folder = makeFolder(t);
  const { media, service, hubUrl } = await startService(t, folder);
  t.ok(PROGRAMS.length >= 6, `${PROGRAMS.length} programs`);
  for (const { name, text } of PROGRAMS) {
    const { code, stdout, stderr } = await run(folder, text, service.baseUrl, hubUrl);
    t.equal(code, 0, `${name} runs: ${stderr}`);
    if (text.includes('console.log')) t.match(stdout, /\S/, `${name} prints`);
    t.notMatch(stdout, /undefined|NaN/, `${name}: ${stdout}`);
  }
  const verbs = media.controls.map(({ verb }) => verb);
  t.ok(
    verbs.filter((verb) => verb === 'pause').length >= 2,
    'those of README.md and docs/client.md paused the player',
  );
  t.ok(verbs.includes('next'), 'and skipped a track');
});

t.test('the other blocks of README.md: how it is started', async (t) => {
  // test/hub/ starts a hub with such a configuration.
  const hub = 'hub:\n  agents:\n    desk: http://desk.lan:9990\n    nas: http://nas.lan:9990';
  t.strictSame(OTHER_BLOCKS, ['npm ci && npm start', hub], 'every other block is run by this file');
  const manifest: { readonly scripts: Readonly<Record<string, string>> } = JSON.parse(
    readFileSync(path.join(BUILD, '../package.json'), 'utf8'),
  );
  // The command that startService of test/helpers/service/service.ts runs for hundreds of tests.
  t.equal(manifest.scripts['start'], 'node dist/main.js');
});

t.test('lines of curl: what they send is answered', async (t) => {
  const { service, hubUrl } = await startService(t, makeFolder(t));
  t.ok(CURL_LINES.length >= 20, `${CURL_LINES.length} lines`);
  for (const { name, text } of CURL_LINES) {
    // An action that an example before it has scheduled would stand in its way.
    await fetch(`${service.baseUrl}/api/pw/cancel`, { method: 'POST' });
    const { url, isStream, method = 'GET', headers, body = null } = readLine(text);
    const answer = await fetch(addressed(url, service.baseUrl, hubUrl), { method, headers, body });
    t.equal(answer.status, statusOf(text), `${name}: ${text}`);
    if (!isStream) {
      await answer.arrayBuffer();
      continue;
    }
    const decoder = new TextDecoder();
    let stream = '';
    for await (const bytes of answer.body ?? []) {
      stream += decoder.decode(bytes, { stream: true });
      if (/^(?:data|id): .*\n\n/m.test(stream)) break;
    }
    t.strictSame(keysOf(stream), fieldsOf(text), `${name}: ${text}`);
  }
});
