/** A key without `read` cannot distinguish a machine on which it may do nothing from one that the hub does not have. */
import t from 'tap';
import { ask, valuesOf } from '../helpers/clients/http.ts';
import { bearer, keyWith } from '../helpers/keys.ts';
import { Many } from '../helpers/many.ts';
import { OP_CASES, routeCases } from './scope-cases.ts';
import { startHub } from './setup.ts';
import { HubClient } from './socket-setup.ts';

const HIDDEN = 'cellar';
const NONE = 'nobody';
/** On one machine of the two. */
const ALLOWED = 'living';

const agents = Object.fromEntries([HIDDEN, ALLOWED].map((id) => [id, { url: 'http://127.0.0.1:9' }]));
const CONFIG = {
  auth: {
    enabled: true,
    keys: { remote: keyWith('remote', 'media', 'metrics'), prometheus: keyWith('prometheus', 'metrics') },
  },
  hub: { commands: { remote: { commands: ['media.*'], keys: ['remote'], hosts: [ALLOWED], labels: {} } } },
} as const;

t.test('[10.keys-hub-ids] over HTTP, and by the upgrade of a WebSocket', async (t) => {
  const hub = await startHub(t, agents);
  hub.reconfigure(agents, CONFIG);
  const many = new Many(t);
  for (const key of ['remote', 'prometheus']) {
    const told = async (id: string) => {
      // A key with `metrics` sees every machine in the metrics of the hub, and may ask for those of each.
      const cases = routeCases(id).filter(({ name }) => name !== 'getHostMetrics');
      const answers = cases.map(async ({ name, method, target, body = '' }) => {
        const headers = { ...bearer(key), 'Content-Type': 'application/json' };
        const answer = await ask(hub.port, target, {
          method,
          headers,
          ...(method === 'POST' ? { body } : {}),
        });
        const text = answer.body.toString();
        return [name, answer.status, valuesOf(answer, 'x-error-code'), name === 'getMetrics' ? '' : text];
      });
      return await Promise.all(answers);
    };
    const [hidden, none] = [await told(HIDDEN), await told(NONE)];
    for (const [at, answer] of hidden.entries()) many.strictSame(answer, none[at], `${key}: ${answer[0]}`);
    many.notMatch(JSON.stringify(hidden), new RegExp(`${HIDDEN}|${ALLOWED}`));
  }
  t.ok(many.count > 60, `${many.count} assertions`);
  const play = { method: 'POST', headers: { ...bearer('remote'), 'Content-Type': 'application/json' } };
  const asked = (id: string) =>
    ask(hub.port, `/api/hosts/${id}/media/control`, { ...play, body: '{"action":"play"}' });
  t.match(
    (await asked(HIDDEN)).body.toString(),
    'This hub has no machine of that name on which this key may do anything.',
  );
  t.notOk([403, 404].includes((await asked(ALLOWED)).status), 'one that it may use is asked');
});

t.test('[10.keys-hub-ids] over the WebSocket of all machines', async (t) => {
  const hub = await startHub(t, agents);
  hub.reconfigure(agents, CONFIG);
  const many = new Many(t);
  for (const key of ['remote', 'prometheus'])
    for (let at = 0; at < OP_CASES.length; at += 10) {
      const client = await HubClient.open(t, hub, '/api/ws', bearer(key));
      for (const { op, data } of OP_CASES.slice(at, at + 10)) {
        const told = async (host: string) => {
          const { type, data: answer } = await client.ask(op, { host, data });
          return JSON.stringify([type, answer]).replaceAll(host, 'HOST');
        };
        many.equal(await told(HIDDEN), await told(NONE), `${key}: ${op} ${JSON.stringify(data)}`);
      }
      many.notMatch(JSON.stringify(client.told.filter(({ host }) => host === undefined)), new RegExp(HIDDEN));
      client.socket.cut();
    }
  t.ok(many.count > 60, `${many.count} assertions`);
});
