/** The lines of curl in README.md and docs/ do what they say, against a service of this test. */
import '../helpers/service/dead-buses.ts';
import { spawn, spawnSync } from 'node:child_process';
import t from 'tap';
import { fieldsOf, keysOf, statusOf } from '../helpers/docs/curl.ts';
import { addressed, endOf, makeFolder, startService } from '../helpers/docs/example-service.ts';
import { CURL_LINES } from '../helpers/docs/examples.ts';

const skip = spawnSync('curl', ['--version']).status !== 0 && 'curl is not installed';

t.test('lines of curl', { skip }, async (t) => {
  const folder = makeFolder(t);
  const { service, hubUrl } = await startService(t, folder);
  t.ok(CURL_LINES.length >= 20, `${CURL_LINES.length} lines`);
  for (const { name, text } of CURL_LINES) {
    // An action that an example before it has scheduled would stand in its way.
    await fetch(`${service.baseUrl}/api/pw/cancel`, { method: 'POST' });
    const line = addressed(text, service.baseUrl, hubUrl);
    const isStream = / -N\b/.test(line);
    const child = spawn('sh', ['-c', `exec ${line} -sS -w '\\n%{http_code}'`], { cwd: folder });
    const { code, stdout, stderr } = await endOf(
      child,
      (so) => isStream && /^(?:data: \{.*\}|id: \d+)\n\n/.test(so),
    );
    if (isStream) {
      t.strictSame(keysOf(stdout), fieldsOf(line), `${name}: ${text}`);
      continue;
    }
    t.equal(code, 0, `${name}: ${text}: ${stderr}`);
    t.equal(Number(stdout.split('\n').at(-1)), statusOf(text), `${name}: ${text}: ${stdout.slice(0, 300)}`);
  }
});
