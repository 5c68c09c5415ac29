/** The web guard behind real proxies: the name and the scheme that a page was loaded from, and who is believed about them. */
import '../../../helpers/service/dead-buses.ts';
import t, { type Test } from 'tap';
import { RawConnection, requestBytes, valuesOf } from '../../../helpers/clients/http.ts';
import { fixtureHost } from '../../../helpers/fakes/host.ts';
import { replaced } from '../../../helpers/proxies/blocks.ts';
import { PROGRAMS, type ProxyProgram, programNamed, skipProxy } from '../../../helpers/proxies/programs.ts';
import { NAME, type ProxyOptions, startProxy } from '../../../helpers/proxies/start.ts';
import { serveHere } from '../../../helpers/service/service.ts';

t.jobs = 8;

const EVIL = 'evil.example.com';
const NOT_HOST = '403 host_not_allowed';
const NOT_ORIGIN = '403 origin_not_allowed';

type Headers = Readonly<Record<string, string>>;

/** A service, and a proxy before it that it trusts or not. */
async function start(t: Test, kind: ProxyProgram, options: ProxyOptions = {}, isTrusted = true) {
  const service = await serveHere(t, fixtureHost(), {
    server: { allowed_hosts: [NAME], trusted_proxies: isTrusted ? ['127.0.0.1'] : [] },
  });
  const proxy = await startProxy(t, kind, service.port, options);
  const send = async (method: 'GET' | 'POST', headers: Headers) => {
    const connection = proxy.isSecure
      ? await RawConnection.openSecure(proxy.port, { servername: NAME })
      : await RawConnection.open(proxy.port);
    const target = method === 'GET' ? '/api/usage' : '/api/pw/sleep';
    connection.write(requestBytes(target, { method, headers: { Host: NAME, ...headers } }));
    const answer = await connection.readAnswer(method);
    connection.destroy();
    return [String(answer.status), ...valuesOf(answer, 'x-error-code')].join(' ');
  };
  return {
    read: (headers: Headers) => send('GET', headers),
    /** A page's request that changes something, which has an Origin. */
    change: (headers: Headers) => send('POST', headers),
  };
}

for (const kind of PROGRAMS)
  for (const scheme of ['http', 'https'] as const)
    t.test(`[1.step4-proxied] ${kind.name}, ${scheme}`, { skip: skipProxy(kind) }, async (t) => {
      const { read, change } = await start(t, kind, { scheme });
      const [own, other] = scheme === 'http' ? ['http', 'https'] : ['https', 'http'];
      t.equal(await change({ Origin: `${own}://${NAME}` }), '200');
      t.equal(await change({ Origin: `${other}://${NAME}` }), NOT_ORIGIN, 'X-Forwarded-Proto counts');
      const claimed = { 'X-Forwarded-Proto': other, 'X-Forwarded-Host': EVIL };
      t.equal(await change({ ...claimed, Origin: `${own}://${NAME}` }), '200', "not a client's own");
      t.equal(await change({ ...claimed, Origin: `${other}://${NAME}` }), NOT_ORIGIN);
      t.equal(await change({ ...claimed, Origin: `${own}://${EVIL}` }), NOT_ORIGIN);
      // A proxy may refuse a name that is not its own, or pass it on.
      const rebound = [
        await read({ Host: EVIL }),
        await read({ Host: EVIL, 'X-Forwarded-Host': NAME }),
        await change({ Host: EVIL, 'X-Forwarded-Host': NAME, Origin: `${own}://${NAME}` }),
      ];
      if (kind.name === 'caddy') t.strictSame(rebound, ['200', '200', '200'], 'answered by Caddy itself');
      else t.strictSame(rebound, [NOT_HOST, NOT_HOST, NOT_HOST]);
    });

/** Blocks in which the name that was asked for is in X-Forwarded-Host alone. */
const HOST_REPLACED: readonly (readonly [ProxyProgram, string, string])[] = [
  [programNamed('nginx'), 'proxy_set_header Host $http_host;', 'proxy_set_header Host $proxy_host;'],
  [programNamed('apache'), 'ProxyPreserveHost On', 'ProxyPreserveHost Off'],
  [programNamed('caddy'), '\n}', ' {\n    header_up Host {upstream_hostport}\n  }\n}'],
  [programNamed('haproxy'), '  server pc', '  http-request set-header Host localhost\n  server pc'],
];

for (const [kind, line, by] of HOST_REPLACED)
  t.test(`[1.step4-proxied] ${kind.name} with a Host of its own`, { skip: skipProxy(kind) }, async (t) => {
    const options = { edit: (block: string) => replaced(block, line, by) };
    const page = { Origin: `http://${NAME}` };
    const trusted = await start(t, kind, options);
    t.equal(await trusted.change(page), '200', 'X-Forwarded-Host counts');
    t.equal(await trusted.change({ Origin: `http://${EVIL}` }), NOT_ORIGIN);
    const untrusted = await start(t, kind, options, false);
    t.equal(await untrusted.change(page), NOT_ORIGIN, 'not from a proxy that is not trusted');
  });

t.test(
  '[1.step4-proxied] a proxy that passes on X-Forwarded-Host',
  { skip: skipProxy(programNamed('nginx')) },
  async (t) => {
    const lines = 'proxy_set_header X-Forwarded-Host $http_host;';
    const { read } = await start(t, programNamed('nginx'), { edit: (block) => replaced(block, lines, '') });
    t.equal(await read({}), '200');
    // A page whose name was pointed at the proxy may set this header, and its reads have no Origin.
    t.equal(await read({ Host: EVIL, 'X-Forwarded-Host': NAME }), NOT_HOST);
  },
);
