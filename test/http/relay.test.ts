/** Requests that a hub passes on to a service: its clock, deadlines, and who asked. */
import t from 'tap';
import { ask, jsonOf, valuesOf } from '../helpers/clients/http.ts';
import { startCommanded } from '../hub/commanded.ts';

const CLOCK = /^([0-9a-f]+) (\d+)$/;
const HEADER = 'X-Hostwire-Hub';

async function clockOf(port: number) {
  const answer = await ask(port, '/api/stream', { method: 'HEAD', headers: { [HEADER]: 'h' } });
  const [, run = '', clock = ''] = CLOCK.exec(valuesOf(answer, 'x-hostwire-clock')[0] ?? '') ?? [];
  return { run, clock: Number(clock) };
}

t.test('[I.hub.relayed] the clock of the service, for hubs only', async (t) => {
  const { service } = await startCommanded(t);
  const first = await clockOf(service.port);
  const second = await clockOf(service.port);
  t.equal(second.run, first.run);
  t.ok(second.clock >= first.clock);
  for (const path of ['/api/status', '/api/pw', '/api/nothing'])
    t.equal(
      valuesOf(await ask(service.port, path, { headers: { [HEADER]: 'h' } }), 'x-hostwire-clock').length,
      1,
    );
  t.equal(
    valuesOf(await ask(service.port, '/api/pw'), 'x-hostwire-clock').length,
    0,
    'others get no such header',
  );
  const other = await startCommanded(t);
  t.not((await clockOf(other.service.port)).run, first.run, 'each start has another run');
});

t.test('[I.hub.relayed] a command past its deadline, or for another run, is not done', async (t) => {
  const machine = await startCommanded(t);
  const { port } = machine.service;
  const { run, clock } = await clockOf(port);
  const send = async (header: string, path = '/api/pw/lock', body?: string) =>
    await ask(port, path, {
      method: 'POST',
      headers: { [HEADER]: header, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body }),
    });
  const targets = [
    ['/api/pw/lock', undefined],
    ['/api/media/control', '{"action":"play"}'],
    ['/api/processes/kill', '{"pid":200}'],
    ['/api/processes/launch', '{"app":"app"}'],
    ['/api/wake', '{"host":"nas"}'],
  ] as const;
  for (const [path, body] of targets) {
    for (const [header, lateness] of [
      [`h; run=${run}; deadline=${Math.max(0, clock - 1000)}`, 'late'],
      [`h; run=0; deadline=${clock + 20_000}`, 'other_run'],
    ]) {
      const answer = await send(header ?? '', path, body);
      t.equal(answer.status, 409, path);
      t.match(jsonOf(answer), { code: 'not_possible_now', details: { lateness } });
    }
    for (const header of [
      'h',
      `h; run=${run}`,
      `h; run=${run}; deadline=x`,
      `h; run=${run}; deadline=${clock + 1e9}`,
    ])
      t.equal((await send(header, path, body)).status, 400, `${path} ${header}`);
  }
  t.strictSame(machine.acts(), []);
  t.strictSame(machine.audit(), []);
  for (const [path, body] of targets) {
    const now = await clockOf(port);
    t.equal((await send(`h; run=${run}; deadline=${now.clock + 29_000}`, path, body)).status, 200, path);
  }
  t.equal(machine.audit().length, targets.length);
});

t.test('[I.hub.relayed] a malformed header is refused, and the audit trail has who asked', async (t) => {
  const machine = await startCommanded(t);
  const { port } = machine.service;
  const { run, clock } = await clockOf(port);
  const good = `run=${run}; deadline=${clock + 29_000}`;
  for (const header of [
    '',
    'a b',
    `${'x'.repeat(65)}`,
    `h; client=pc; ${good}`,
    `h; client=1.2.3.4; key=a b; ${good}`,
  ])
    t.equal(
      (await ask(port, '/api/pw/lock', { method: 'POST', headers: { [HEADER]: header } })).status,
      400,
      JSON.stringify(header),
    );
  t.strictSame(machine.audit(), []);
  const header = `home; client=2001:db8::1; key=default; ${good}`;
  t.equal((await ask(port, '/api/pw/lock', { method: 'POST', headers: { [HEADER]: header } })).status, 200);
  t.match(
    machine.audit()[0],
    /power: lock accepted .*address=127\.0\.0\.1 keyed=false hub=home client=2001:db8::1 key=default|power: lock \w+ address=127\.0\.0\.1 keyed=false hub=home client=2001:db8::1 key=default/,
  );
});
