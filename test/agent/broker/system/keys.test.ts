/** Keys of a hub behind a broker: no scope is bypassed, and the machine's audit trail has the client that asked. */
import t from 'tap';
import { SCOPES } from '#src/scopes.js';
import { ask, valuesOf } from '../../../helpers/clients/http.ts';
import { bearer, KEYS, may } from '../../../helpers/keys.ts';
import { Many } from '../../../helpers/many.ts';
import { until } from '../../../helpers/until.ts';
import { startCommanded } from '../../../hub/commanded.ts';
import { type RouteCase, routeCases } from '../../../hub/scope-cases.ts';
import { isUp, startHub } from '../../../hub/setup.ts';
import { BROKERS, hubPart } from '../../reporter/rig.ts';
import { brokerPart, EVERYTHING } from '../setup.ts';

t.setTimeout(280_000);

for (const { name, skip, start } of BROKERS)
  t.test(`[10.keys-hub-mqtt] ${name}: each request for each key, and the trail`, { skip }, async (t) => {
    const broker = await start(t);
    const machine = await startCommanded(t, {
      host: { id: 'pc' },
      mqtt: hubPart(broker),
      history: { minutes: 60 },
      // That of HTTP: a hub behind a broker sends none.
      auth: { enabled: true, api_key: 'k'.repeat(40) },
    });
    const part = brokerPart(broker.url, EVERYTHING);
    const hub = await startHub(t, {}, part);
    const { scopes } = await hub.host('pc', isUp);
    t.equal(scopes, undefined, 'the rights at the broker decide, so the machine limits nothing');
    hub.reconfigure({}, { ...part, auth: { enabled: true, keys: KEYS } });
    const send = async ({ method, target, body }: RouteCase, key: string) =>
      await ask(hub.port, target, {
        method,
        headers: { ...bearer(key), ...(method === 'POST' ? { 'Content-Type': 'application/json' } : {}) },
        ...(body === undefined ? {} : { body }),
      });
    const many = new Many(t);
    const cases = routeCases('pc').filter(({ isForwarded }) => isForwarded);
    for (const each of cases)
      for (const scope of SCOPES) {
        const answer = await send(each, scope);
        const what = `${scope}: ${each.method} ${each.target}`;
        const required = valuesOf(answer, 'x-required-scope');
        if (may([scope], each.needed))
          many.ok(![401, 403].includes(answer.status), `${what}: ${answer.status}`);
        else many.strictSame([answer.status, required], [403, [each.needed]], what);
      }
    t.ok(many.count > 400, `${many.count} assertions`);
    // Each command that was allowed is in the trail with the name of the key, and no other.
    const commands = cases.filter(({ method }) => method === 'POST');
    const expected = commands.reduce(
      (sum, { needed }) => sum + SCOPES.filter((scope) => may([scope], needed)).length,
      0,
    );
    await until(() => machine.audit().length >= expected);
    const keys = machine.audit().map((line) => /keyed=true hub=hub1 key=(\S+)/.exec(line)?.[1] ?? line);
    const wanted = commands.flatMap(({ needed }) =>
      SCOPES.filter((scope) => may([scope], needed)).map((scope) => scope.replace('.', '-')),
    );
    t.strictSame(keys.toSorted(), wanted.toSorted());
  });
