/** The row of `hostwire doctor` on the port. */
import type { Test } from 'tap';
import { runToEnd, serveProgram } from '../helpers/service/service.ts';

/** Starts a service, and looks for the row of its port in what `doctor` prints with the same settings. */
export async function checkRecognised(t: Test, host: string, env: Readonly<Record<string, string>> = {}) {
  const service = await serveProgram(t, { host, env });
  const args = ['doctor', '--json', '--host', host, '--port', String(service.port)];
  const { code, stdout } = await runToEnd(args, { file: service.configFile }, [], env);
  t.equal(code, 0);
  const rows = JSON.parse(stdout) as readonly { readonly subject: string; readonly source: string }[];
  t.match(
    rows.find(({ subject }) => subject === 'port'),
    {
      status: 'works',
      source: `port ${service.port} on ${host}: hostwire is already running there, as process ${service.pid}`,
    },
    `${service.baseUrl}, ${host}`,
  );
}
