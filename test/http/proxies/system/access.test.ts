/** The address of a real proxy's client for the access rules: each proxy has its block of docs/operating.md. */
import '../../../helpers/service/dead-buses.ts';
import http from 'node:http';
import t, { type Test } from 'tap';
import { EventStream } from '../../../helpers/clients/event-stream.ts';
import { ask } from '../../../helpers/clients/http.ts';
import { listen } from '../../../helpers/clients/listen.ts';
import { SocketClient } from '../../../helpers/clients/socket.ts';
import { fixtureHost } from '../../../helpers/fakes/host.ts';
import { PROGRAMS, type ProxyProgram, skipProxy } from '../../../helpers/proxies/programs.ts';
import { NAME, startProxy } from '../../../helpers/proxies/start.ts';
import { type ConfigPart, serveHere } from '../../../helpers/service/service.ts';

t.jobs = 12;

const KEY = 'k'.repeat(32);
const BEARER = { Authorization: `Bearer ${KEY}` };
const PROXY = '127.0.0.1';
/** Addresses of clients, which the proxy names: on the allow list, on none, on the block list. */
const [LISTED, OTHER, BLOCKED] = ['127.0.0.66', '127.0.0.67', '127.0.0.68'];

const RULES = { enabled: true, api_key: KEY, allowed_ips: [LISTED], blocked_ips: [BLOCKED] };

type Headers = Readonly<Record<string, string>>;

async function start(t: Test, program: ProxyProgram, config: ConfigPart) {
  const own = { ...config, stats: { stream_interval_seconds: 1 } };
  const service = await serveHere(t, fixtureHost(), own);
  const where = '/pc/';
  const proxy = await startProxy(t, program, service.port, { where });
  const through = async (from: string, headers: Headers = {}) =>
    await ask(proxy.port, `${where}api/usage`, { headers: { Host: proxy.host, ...headers } }, from);
  return {
    service,
    proxy,
    where,
    /** The status of an answer through the proxy, and of one without it. */
    statusOf: async (...asking: Parameters<typeof through>) => (await through(...asking)).status,
    direct: async (from: string, headers: Headers = {}) =>
      (await ask(service.port, '/api/usage', { headers }, from)).status,
  };
}

for (const program of PROGRAMS) {
  const skip = skipProxy(program);

  t.test(`[1.forwarded-rightmost] ${program.name}: the rules see its client`, { skip }, async (t) => {
    const server = { trusted_proxies: [PROXY], allowed_hosts: [NAME] };
    const { proxy, where, statusOf } = await start(t, program, { auth: RULES, server });
    t.equal(await statusOf(LISTED), 200);
    t.equal(await statusOf(OTHER), 403);
    t.equal(await statusOf(BLOCKED), 403);
    t.equal(await statusOf(BLOCKED, BEARER), 403, 'the block list comes before the key');
    t.equal(await statusOf(PROXY), 403, "the proxy's own address is not on the list");
    // The proxy replaces these, or appends its client to them.
    for (const claim of [LISTED, `${LISTED}, ${PROXY}`, `${PROXY}, ${LISTED}`]) {
      const claimed = { 'X-Forwarded-For': claim };
      t.equal(await statusOf(OTHER, claimed), 403, `a client that claims ${claim}`);
      t.equal(await statusOf(BLOCKED, { ...BEARER, ...claimed }), 403);
    }
    t.equal(await statusOf(LISTED, { 'X-Forwarded-For': BLOCKED }), 200, 'a claim does no harm either');
    const socket = { path: `${where}api/ws`, headers: { Host: proxy.host } };
    await SocketClient.openIn(t, proxy.port, { ...socket, from: LISTED });
    t.equal((await SocketClient.refusal(proxy.port, { ...socket, from: OTHER })).status, 403);
  });

  t.test(`[1.forwarded-ignored] [1.forwarded-no-skip] ${program.name}, not trusted`, { skip }, async (t) => {
    const auth = { ...RULES, allowed_ips: [PROXY, LISTED] };
    const { statusOf, direct } = await start(t, program, { auth, server: { allowed_hosts: [NAME] } });
    t.equal(await statusOf(LISTED), 401, 'a listed proxy does not let its clients in without the key');
    t.equal(await statusOf(OTHER), 401);
    t.equal(await statusOf(BLOCKED, BEARER), 200, 'the client is the proxy');
    t.equal(await direct(LISTED), 200);
    t.equal(await direct(OTHER, { 'X-Forwarded-For': LISTED }), 403, 'forged');
    t.equal(await direct(LISTED, { 'X-Forwarded-For': OTHER }), 401);
  });

  t.test(`[4.streams-proxied] ${program.name}: limits are per client`, { skip }, async (t) => {
    const server = { trusted_proxies: [PROXY], allowed_hosts: [NAME], max_streams_per_address: 1 };
    const { proxy, where } = await start(t, program, { server });
    const open = async (from: string, claim: Headers = {}) => {
      const headers = { Host: proxy.host, ...claim };
      return await EventStream.openIn(t, proxy.port, `${where}api/stream`, headers, from);
    };
    const first = await open(LISTED);
    t.equal(first.head.status, 200);
    t.equal((await open(LISTED)).head.status, 503);
    t.equal((await open(LISTED, { 'X-Forwarded-For': BLOCKED })).head.status, 503, 'whatever it claims');
    t.equal((await open(OTHER)).head.status, 200);
    first.close();
    // The proxy notices it with the next event at the latest.
    while ((await open(LISTED)).head.status !== 200);
    t.pass('a client that goes away makes room');
  });

  t.test(`${program.name}: a path arrives as it was sent`, { skip }, async (t) => {
    const asked: (string | undefined)[] = [];
    const server = http.createServer(({ url }, answer) => {
      asked.push(url);
      answer.end();
    });
    const port = await listen(t, server);
    const target = 'api/processes/kworker%2F0%3A1%3Fa%252F%20b?detail=%2F1';
    for (const where of ['/', '/pc/'] as const) {
      const proxy = await startProxy(t, program, port, { where });
      await ask(proxy.port, `${where}${target}`, { headers: { Host: proxy.host } });
    }
    t.strictSame(asked, [`/${target}`, `/${target}`]);
  });
}
