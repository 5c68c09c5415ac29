/** The start of the program on every address of both families. */
import t from 'tap';
import { ask } from '../../helpers/clients/http.ts';
import { reasonAgainstIpv6 as skip } from '../../helpers/machine/ipv6.ts';
import { runToEnd, serveProgram } from '../../helpers/service/service.ts';

t.test('[9.listening-wildcard] for a wildcard it names the localhost URL', { skip }, async (t) => {
  const service = await serveProgram(t, { host: '::' });
  t.match(
    service.stderr(),
    new RegExp(`listening on http://\\S+:${service.port} .*http://localhost:${service.port}`),
  );
  t.equal((await ask(service.port, '/api/status')).status, 200, 'IPv4 reaches the dual-stack socket');
});

t.test(
  '[9.second-instance] a second instance on both families never shares the port',
  { skip },
  async (t) => {
    const first = await serveProgram(t);
    const { code, stderr } = await runToEnd(['--host', '::', '--port', `${first.port}`]);
    t.equal(code, 1);
    t.match(stderr, new RegExp(`\\b${first.port}\\b`));
    t.equal((await ask(first.port, '/api/status')).status, 200);
  },
);
