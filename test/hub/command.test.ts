/** The program: `hostwire hub` with its configuration file, a changed file, and its end. */
import { writeFileSync } from 'node:fs';
import t from 'tap';
import type { HostList } from '#src/wire/hub.js';
import { ask, jsonOf } from '../helpers/clients/http.ts';
import { configText, serveProgram, startService } from '../helpers/service/service.ts';
import { until } from '../helpers/until.ts';

t.test('[9.hub] `hostwire hub` serves the machines of its configuration, and reloads them', async (t) => {
  const agent = await serveProgram(t, { config: { stats: { stream_interval_seconds: 1 } } });
  const config = (...ids: readonly string[]) => ({
    hub: { agents: Object.fromEntries(ids.map((id) => [id, { url: agent.baseUrl, labels: {} }])) },
  });
  const hub = await startService({ args: ['hub'], config: config('a') });
  const states = async () => {
    const { hosts } = jsonOf(await ask(hub.port, '/api/hosts')) as HostList; // routes.test.ts checks it.
    return hosts.map(({ id, state }) => `${id} ${state}`).join();
  };
  await until(async () => (await states()) === 'a up');
  writeFileSync(hub.configFile, configText(config('a', 'b')));
  await until(async () => (await states()) === 'a up,b up');
  writeFileSync(hub.configFile, configText(config('b')));
  await until(async () => (await states()) === 'b up');
  t.equal((await ask(hub.port, '/api/pw/sleep', { method: 'POST' })).status, 404, 'it takes no commands');
  const { code } = await hub.stop();
  t.equal(code, 0);
  t.match(hub.stderr(), /\d machines? in hub.agents/);
});
