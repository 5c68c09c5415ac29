/** The OpenAPI document as tools that are not ours see it: Redocly, Spectral, and a client that they generate. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { Installed } from '../helpers/docs/installed.ts';
import { serveProgram } from '../helpers/service/service.ts';
import { CALLS } from './openapi-calls.ts';

t.setTimeout(600_000);

const DOCUMENT = path.resolve(import.meta.dirname, '../../../../dist/api/openapi.json');
const ENTRY = { command: '/bin/true', args: [], env: {}, allow_args: false };
const FEATURES = {
  enable_shutdown: true,
  enable_restart: true,
  enable_hibernate: true,
  enable_process_control: true,
  enable_metrics: true,
  enable_wake: true,
};

/** Warnings that are as they must be. */
const EXPECTED: Readonly<Record<string, readonly string[]>> = {
  // An upgrade has no answer with a status of 200.
  redocly: ['operation-2xx-response #/paths/~1api~1ws/get/responses'],
  // The service belongs to the user who runs it: there is no contact.
  spectral: ['info-contact info', 'operation-success-response paths./api/ws.get.responses'],
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

    const service = await serveProgram(t, {
      config: { features: FEATURES, processes: { launch: { app: ENTRY } } },
    });
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
