/** Machines that the hub does not take, and what their logs say. */
import { readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import t from 'tap';
import { ask } from '../../helpers/clients/http.ts';
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
