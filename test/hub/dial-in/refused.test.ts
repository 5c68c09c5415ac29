/** Machines that the hub does not take, and what their logs say; hubs that are none. */
import { X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import t, { type Test } from 'tap';
import { type WebSocket, WebSocketServer } from 'ws';
import { pinOf } from '#src/tls/certificate.js';
import { makePairFiles } from '../../helpers/certificates.ts';
import { ask } from '../../helpers/clients/http.ts';
import { listen } from '../../helpers/clients/listen.ts';
import { findFreePort } from '../../helpers/service/free-port.ts';
import type { ServiceProcess } from '../../helpers/service/service.ts';
import { until } from '../../helpers/until.ts';
import { isUp, startHub } from '../setup.ts';
import { Dialler, dialled, KEY, OTHER_KEY, startAgent, urlOf } from './setup.ts';

t.setTimeout(280_000);

const logged = async (agent: ServiceProcess, text: RegExp) =>
  await until(() => text.exec(agent.stderr())?.[0]);

t.test('[I.hub.dial.key] a wrong key, a wrong id, and none', async (t) => {
  const hub = await startHub(t, { pc: dialled(), nas: dialled(OTHER_KEY) });
  for (const options of [
    { key: OTHER_KEY },
    { key: '' },
    { key: `${KEY}x` },
    { id: 'nobody' },
    { id: 'constructor' },
    { id: 'nas' },
    { id: '' },
    { id: 'a/b' },
  ]) {
    const agent = new Dialler(t, hub.port, options);
    t.equal(await agent.refused(), 401, JSON.stringify(options));
    t.match(await hub.host('pc'), { state: 'unknown', reason: 'not connected yet' });
  }
  t.notMatch(hub.log.join(''), new RegExp(`${KEY}|${OTHER_KEY}`), 'no key is logged');
  new Dialler(t, hub.port);
  await hub.host('pc', isUp);
});

t.test('[I.hub.dial.access] rules of addresses hold, the key of viewers is not needed', async (t) => {
  const agents = { pc: dialled() };
  const auth = { enabled: true, api_key: 'v'.repeat(40) };
  const hub = await startHub(t, agents, { auth });
  t.equal((await ask(hub.port, '/api/hosts')).status, 401, 'viewers need it');
  const statusOf = async (options = {}) => await new Dialler(t, hub.port, options).refused();
  t.equal(await statusOf({ key: auth.api_key }), 401, 'that of viewers is none of a machine');
  const agent = new Dialler(t, hub.port);
  await agent.settled();
  hub.reconfigure(agents, { auth: { ...auth, blocked_ips: ['127.0.0.1'] } });
  t.equal((await agent.end()).code, 1008, 'it is left');
  t.equal(await statusOf(), 403, 'blocked');
  hub.reconfigure(agents, { auth: { ...auth, allowed_ips: ['192.0.2.1'] } });
  t.equal(await statusOf(), 403, 'not on the list');
  hub.reconfigure(agents, {});
  t.equal(
    await statusOf({ origin: urlOf(hub).replace('ws', 'http') }),
    403,
    'a page, be it of the hub itself',
  );
  const bearer = { headers: { Authorization: `Bearer ${KEY}` } };
  t.equal((await ask(hub.port, '/api/agent?id=pc', bearer)).status, 426);
  hub.reconfigure({});
  t.ok([401, 404].includes(await statusOf()), 'where nobody dials in');
});

t.test('[I.hub.dial.malformed] what is not the protocol ends the connection', async (t) => {
  const hub = await startHub(t, { pc: dialled() });
  const greetings = ['no JSON', '[]', '{"type":"connected"}', '{"type":"system_stats","data":{}}', '\xff'];
  for (const greeting of greetings) {
    const agent = new Dialler(t, hub.port);
    agent.machine.greeting = [greeting];
    t.equal((await agent.end()).code, 1008, greeting);
    t.not((await hub.host('pc')).state, 'up');
  }
  const silent = new Dialler(t, hub.port);
  silent.machine.greeting = [];
  t.equal((await silent.end()).code, 1008, 'one that says nothing');
});

t.test('[I.hub.dial.refused] the log of a machine says why the hub does not take it', async (t) => {
  const hub = await startHub(t, { pc: dialled(), nas: dialled(OTHER_KEY) });
  for (const wrong of [{ key: OTHER_KEY }, { id: 'other' }]) {
    const agent = await startAgent(t, urlOf(hub), wrong);
    await logged(agent, /cannot connect to .*\(401\)/);
    t.notMatch(agent.stderr(), OTHER_KEY);
    await agent.stop();
  }
  const lost = await startAgent(t, `ws://127.0.0.1:${await findFreePort()}`);
  await logged(lost, /cannot connect to .* \(connection refused\)/);
  const elsewhere = await startAgent(t, `${urlOf(hub)}/elsewhere`);
  await logged(elsewhere, /the server at this URL does not accept machines \(404\)/);
});

t.test('[I.hub.dial.reload] another key, and no hub, without a restart', async (t) => {
  const hub = await startHub(t, { pc: dialled() });
  const agent = await startAgent(t, urlOf(hub), { key: OTHER_KEY });
  await logged(agent, /cannot connect to .*\(401\)/);
  const { hub: dialling, ...without } = JSON.parse(readFileSync(agent.configFile, 'utf8'));
  writeFileSync(dialling.key_file, KEY);
  process.kill(agent.pid, 'SIGHUP');
  await hub.host('pc', isUp);
  writeFileSync(agent.configFile, JSON.stringify(without));
  process.kill(agent.pid, 'SIGHUP');
  await hub.host('pc', (row) => !isUp(row));
});

t.test('[I.hub.dial.tls] with TLS nothing is sent to another key than that of the pin', async (t) => {
  const pair = await makePairFiles(t);
  const securePort = await findFreePort();
  const hub = await startHub(t, { pc: dialled() }, { server: { tls: { ...pair, port: securePort } } });
  const url = `wss://127.0.0.1:${securePort}`;
  const unsigned = await startAgent(t, url);
  await logged(unsigned, /its certificate is not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\); set hub\.pin/);
  await unsigned.stop();
  const wrong = await startAgent(t, url, { pin: `sha256/${'A'.repeat(43)}=` });
  await logged(wrong, /its key has the pin .*, not the one in hub\.pin/);
  t.match(await hub.host('pc'), { state: 'unknown', reason: 'not connected yet' });
  await wrong.stop();
  const right = await startAgent(t, url, { pin: pinOf(new X509Certificate(pair.cert.pem)) });
  await hub.host('pc', isUp);
  t.notMatch(right.stderr(), /unencrypted/);
});

/** A hub that a test plays; each of its connections. */
async function playHub(t: Test) {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  const sockets: { readonly socket: WebSocket; readonly heard: string[] }[] = [];
  server.on('connection', (socket) => {
    const heard: string[] = [];
    socket.on('error', () => undefined).on('message', (data) => heard.push(data.toString()));
    sockets.push({ socket, heard });
  });
  return { sockets, url: `ws://127.0.0.1:${await listen(t, server)}` };
}

t.test('[I.hub.dial.scopes] a hub may do what hub.scopes allow, by default read and media', async (t) => {
  const { sockets, url } = await playHub(t);
  for (const [scopes, allowed] of [
    [undefined, ['media.pause', 'system']],
    [['read'], ['system']],
    [['admin'], ['media.pause', 'system', 'power.lock']],
  ] as const) {
    const agent = await startAgent(t, url, scopes && { scopes });
    const { socket, heard } = await until(() => sockets.pop());
    for (const name of ['media.pause', 'system', 'power.lock'])
      socket.send(JSON.stringify({ op: 'request', id: name, data: { name } }));
    const answerTo = (name: string) =>
      heard.find((text) => text.includes(`"id":"${name}"`) && text.includes('"answer"'));
    for (const name of ['media.pause', 'system', 'power.lock']) {
      const answer = await until(() => answerTo(name));
      const isAllowed = (allowed as readonly string[]).includes(name);
      t.equal(!answer.includes('scope_required'), isAllowed, `${String(scopes)}: ${name}`);
    }
    await agent.stop();
  }
});

t.test('[I.hub.dial.pace] a machine leaves a hub that floods it or breaks the protocol', async (t) => {
  const { sockets, url } = await playHub(t);
  const agent = await startAgent(t, url);
  for (const flood of [
    (socket: WebSocket) => socket.ping(),
    (socket: WebSocket) => socket.send('{"op":"ping"}'),
    (socket: WebSocket) => socket.send('x', { fin: false }),
  ]) {
    const { socket, heard } = await until(() => sockets.shift());
    await until(() => heard[0]);
    for (let sent = 0; sent < 5000 && socket.readyState === socket.OPEN; sent++) flood(socket);
    await until(() => socket.readyState === socket.CLOSED);
  }
  await until(() => sockets[0]?.heard[0]);
  t.match(agent.stderr(), /lost connection to /, 'and comes back');
});
