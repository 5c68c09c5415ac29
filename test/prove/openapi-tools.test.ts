/** The OpenAPI document as tools that are not ours see it: Redocly, Spectral, and a client that they generate. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { Installed } from '../helpers/docs/installed.ts';
import { startService } from '../helpers/service/service.ts';

t.setTimeout(600_000);

const DOCUMENT = path.resolve(import.meta.dirname, '../../../../dist/api/openapi.json');
const ENTRY = { command: '/bin/true', args: [], env: {}, allow_args: false };
const FEATURES = {
  enable_shutdown: true,
  enable_restart: true,
  enable_hibernate: true,
  enable_process_control: true,
};

/** Warnings that are as they must be. */
const EXPECTED: Readonly<Record<string, readonly string[]>> = {
  // An upgrade has no answer with a status of 200.
  redocly: ['operation-2xx-response #/paths/~1api~1ws/get/responses'],
  // The service belongs to whoever runs it: there is nobody to contact.
  spectral: ['info-contact info', 'operation-success-response paths./api/ws.get.responses'],
};

/** One call per operation, by its id, with the status that it must have on a machine without players and bus. */
const CALLS: Readonly<Record<string, readonly [call: string, status: number]>> = {
  getStatus: ["client.GET('/api/status')", 200],
  getUsage: [
    "client.GET('/api/usage', { params: { query: { fields: ['cpu', 'memory'], detail: '1' } } })",
    200,
  ],
  openStream: [
    "client.GET('/api/stream', { params: { query: { fields: ['network'] } }, parseAs: 'stream' })",
    200,
  ],
  getSystem: ["client.GET('/api/system', { params: { query: { detail: '1' } } })", 200],
  openSocket: ["client.GET('/api/ws')", 426],
  getPower: ["client.GET('/api/pw')", 200],
  shutdown: ["client.POST('/api/pw/shutdown', { params: { query: { delay: 60 } } })", 200],
  cancelPower: ["client.POST('/api/pw/cancel')", 200],
  restart: ["client.POST('/api/pw/restart', { params: { query: { force: '1' } } })", 200],
  sleep: ["client.POST('/api/pw/sleep')", 200],
  hibernate: ["client.POST('/api/pw/hibernate')", 200],
  lock: ["client.POST('/api/pw/lock')", 200],
  getMedia: ["client.GET('/api/media/status', { params: { query: { detail: '1' } } })", 200],
  getMediaArt: ["client.GET('/api/media/art', { parseAs: 'blob' })", 404],
  controlMedia: ["client.POST('/api/media/control', { body: { action: 'pause' } })", 200],
  listProcesses: [
    "client.GET('/api/processes', { params: { query: { sort: 'memory', limit: 3, grouped: '0' } } })",
    200,
  ],
  getProcess: ["client.GET('/api/processes/{name}', { params: { path: { name: 'node' } } })", 200],
  killProcess: ["client.POST('/api/processes/kill', { body: { pid: 4194303 } })", 404],
  launchProcess: ["client.POST('/api/processes/launch', { body: { app: 'app' } })", 200],
  getOpenapi: ["client.GET('/api/openapi.json')", 200],
  getAsyncapi: ["client.GET('/api/asyncapi.json')", 200],
};

const PROGRAM = `
import createClient from 'openapi-fetch';
import type { paths } from './api.d.ts';
const client = createClient<paths>({ baseUrl: process.argv[2] ?? '' });
const calls = {
${Object.entries(CALLS)
  .map(([id, [call]]) => `  ${id}: () => ${call},`)
  .join('\n')}
};
const statuses: Record<string, number> = {};
for (const [id, call] of Object.entries(calls)) {
  const { response } = await call();
  statuses[id] = response.status;
  if (!response.bodyUsed) await response.body?.cancel().catch(() => undefined);
}
const { data } = await client.GET('/api/usage');
if (typeof data?.timestamp !== 'number') throw new Error('no typed payload');
console.log(JSON.stringify(statuses));
process.exit(0);
`;

t.test(
  '[2.openapi-tools] Redocly and Spectral find nothing wrong, and a generated client works',
  async (t) => {
    const tools = new Installed(t, [
      '@redocly/cli@2',
      '@stoplight/spectral-cli@6',
      'openapi-typescript@7',
      'openapi-fetch@0.17',
      'typescript@5.9',
      '@types/node@22',
    ]);
    const document: { readonly paths: Record<string, Record<string, { operationId?: string }>> } = JSON.parse(
      readFileSync(DOCUMENT, 'utf8'),
    );

    const redocly = tools.run('redocly', ['lint', '--format=json', DOCUMENT]);
    const { problems } = JSON.parse(redocly.stdout);
    t.strictSame(
      problems.map(
        ({ ruleId, location }: { ruleId: string; location: { pointer: string }[] }) =>
          `${ruleId} ${location[0]?.pointer}`,
      ),
      EXPECTED['redocly'],
      'Redocly, its recommended rules',
    );

    writeFileSync(path.join(tools.folder, 'rules.yaml'), 'extends: ["spectral:oas"]\n');
    const spectral = tools.run('spectral', [
      'lint',
      ...['--ruleset', 'rules.yaml', '--format', 'json', '--quiet'],
      DOCUMENT,
    ]);
    t.strictSame(
      JSON.parse(spectral.stdout).map(
        ({ code, path: at }: { code: string; path: string[] }) => `${code} ${at.join('.')}`,
      ),
      EXPECTED['spectral'],
      'Spectral, all rules for OpenAPI',
    );

    t.match(tools.run('openapi-typescript', [DOCUMENT, '-o', 'api.d.ts']), { code: 0 }, 'without flags');
    const ids = Object.values(document.paths).flatMap((item) =>
      Object.values(item).flatMap(({ operationId }) => operationId ?? []),
    );
    t.strictSame(Object.keys(CALLS).sort(), ids.sort(), 'each operation is called');
    writeFileSync(path.join(tools.folder, 'package.json'), '{"type":"module"}');
    writeFileSync(path.join(tools.folder, 'client.ts'), PROGRAM);
    const compiled = tools.run('tsc', [
      ...['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'],
      ...['--target', 'es2022', '--module', 'nodenext', '--types', 'node', '--skipLibCheck', 'false'],
      ...['--rewriteRelativeImportExtensions', 'client.ts'],
    ]);
    t.match(compiled, { code: 0, stdout: '' }, 'the calls compile');

    const service = await startService({
      config: { features: FEATURES, processes: { launch: { app: ENTRY } } },
    });
    t.teardown(() => service.stop());
    const child = spawn(process.execPath, [path.join(tools.folder, 'client.js'), service.baseUrl]);
    const [stdout, stderr] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    t.equal(stderr, '');
    t.strictSame(
      JSON.parse(stdout),
      Object.fromEntries(Object.entries(CALLS).map(([id, [, status]]) => [id, status])),
      'and run',
    );
  },
);
