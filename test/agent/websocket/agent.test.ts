/**
 * Refusals by the agent: a hub that does not prove itself, another key in its certificate; and the agent's handling of
 * the hub's refusals.
 */
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import t, { type Test } from 'tap';
import { WebSocketServer } from 'ws';
import { pinOf } from '#src/tls/certificate.js';
import { makePairFiles } from '../../helpers/certificates.ts';
import { findFreePort } from '../../helpers/service/free-port.ts';
import type { ServiceProcess } from '../../helpers/service/service.ts';
import { until } from '../../helpers/until.ts';
import { isUp, startHub } from '../../hub/setup.ts';
import { dialled, KEY, OTHER_KEY, PlayedHub, proofOf, startAgent } from './setup.ts';

t.setTimeout(280_000);

/** A hub that a test plays, on each connection as `play` says. */
async function playHub(t: Test, play: (hub: PlayedHub) => unknown) {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  t.teardown(() => server.close());
  await once(server, 'listening');
  const hubs: PlayedHub[] = [];
  server.on('connection', (socket) => {
    const hub = new PlayedHub(socket);
    hubs.push(hub);
    void play(hub);
  });
  // It listens on a port.
  return { hubs, url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const logged = async (agent: ServiceProcess, text: RegExp) =>
  await until(() => text.exec(agent.stderr())?.[0]);

t.test('[I.hub.dial.false-hub] a hub without the key learns nothing, and is left', async (t) => {
  const cases: Readonly<Record<string, (hub: PlayedHub) => unknown>> = {
    'another key': (hub) => hub.prove(OTHER_KEY),
    'the label of the agent': (hub) => hub.prove(KEY, 'agent'),
    async 'the proof sent back'(hub) {
      hub.challenge();
      const { proof } = await hub.next('proof');
      hub.say('proof', { hub: 'hub1', proof });
    },
    async 'the proof of another nonce'(hub) {
      hub.challenge();
      const { id = '', run = '', nonce = '' } = await hub.next('proof');
      const proof = proofOf(KEY, 'hub', [id, run, nonce, nonce]);
      hub.say('proof', { hub: 'hub1', proof });
    },
  };
  for (const [name, play] of Object.entries(cases)) {
    const { hubs, url } = await playHub(t, play);
    const agent = await startAgent(t, url);
    await logged(agent, /cannot connect to .* \(the server at this URL did not prove that it has the key/);
    const { heard } = hubs[0] ?? { heard: [] };
    t.same(
      heard.map(({ topic }) => topic),
      ['proof'],
      `${name}: nothing but its proof was sent`,
    );
    t.notMatch(JSON.stringify(heard) + agent.stderr(), KEY);
    await agent.stop();
  }
});

t.test('[I.hub.dial.no-hub] a hub that says something else, or nothing', async (t) => {
  const { url } = await playHub(t, (hub) => hub.say('want', { hub: 'hub1', sections: ['cpu'] }));
  const agent = await startAgent(t, url);
  await logged(agent, /the server at this URL is not a hub/);
  const commands = await playHub(t, async (hub) => {
    hub.challenge();
    await hub.next('proof');
    // Without a proof it is not a hub: nothing is done.
    hub.say('cmd/power/sleep', { hub: 'hub1', id: '1', run: 'x', deadline: 1, client: '::1', params: {} });
  });
  const other = await startAgent(t, commands.url);
  await logged(other, /did not prove that it has the key/);
  t.notMatch(other.stderr(), /power: sleep/);
});

t.test('[I.hub.dial.refused] the log of an agent says why the hub does not take it', async (t) => {
  const hub = await startHub(t, { pc: dialled(), nas: dialled(OTHER_KEY) });
  const url = `ws://127.0.0.1:${hub.port}`;
  for (const wrong of [{ key: OTHER_KEY }, { id: 'other' }]) {
    const agent = await startAgent(t, url, wrong);
    await logged(agent, /cannot connect to .*the id or its key is not one of hub\.agents/);
    t.notMatch(agent.stderr(), OTHER_KEY);
    await agent.stop();
  }
  const lost = await startAgent(t, `ws://127.0.0.1:${await findFreePort()}`);
  await logged(lost, /cannot connect to .* \(connection refused\)/);
  const elsewhere = await startAgent(t, `${url}/elsewhere`);
  await logged(elsewhere, /the server at this URL does not accept machines \(404\)/);
});

t.test('[I.hub.dial.reload] another key, and another hub, without a restart', async (t) => {
  const hub = await startHub(t, { pc: dialled() });
  const agent = await startAgent(t, `ws://127.0.0.1:${hub.port}`, { key: OTHER_KEY });
  await logged(agent, /the id or its key is not one of hub\.agents/);
  const { hub: dialling, ...without } = JSON.parse(readFileSync(agent.configFile, 'utf8'));
  writeFileSync(dialling.key_file, KEY);
  process.kill(agent.pid, 'SIGHUP');
  await hub.host('pc', isUp);
  writeFileSync(agent.configFile, JSON.stringify(without));
  process.kill(agent.pid, 'SIGHUP');
  t.match(await hub.host('pc', ({ state }) => state === 'down'), { reason: 'its agent is offline' });
});

t.test('[I.hub.dial.tls] with TLS nothing is sent to another key than that of the pin', async (t) => {
  const pair = await makePairFiles(t);
  const securePort = await findFreePort();
  const server = { tls: { ...pair, port: securePort } };
  const hub = await startHub(t, { pc: dialled() }, { server });
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
