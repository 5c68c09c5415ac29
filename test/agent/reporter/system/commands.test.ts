/** Commands and questions of hubs over real brokers: which are done, how they are answered, and which are never done. */
import t from 'tap';
import { FakeClock } from '../../../helpers/fakes/clock.ts';
import { fixtureHost } from '../../../helpers/fakes/host.ts';
import { FakeProcessHost } from '../../../helpers/fakes/processes.ts';
import { serveHere } from '../../../helpers/service/service.ts';
import { until } from '../../../helpers/until.ts';
import { hubCommand, hubPart, startAgent, TestHub, testBrokers, testMosquitto, untilOnline } from '../rig.ts';

testBrokers(
  t,
  '[3.mqtt-hub-commands] a command is done, followed, and audited with who asked',
  async (t, broker) => {
    const hub = await TestHub.open(t, broker.url);
    const { media, service } = await startAgent(t, broker, { features: { enable_restart: false } });
    await until(() => hub.state === 'online', 'online');
    t.match(await hub.ask('clock'), { stage: 'done', run: /^[0-9a-f]{16}$/, clock: Number });
    t.match(await hub.command('media.set_volume', { value: 30 }), {
      command: 'media.set_volume',
      stage: 'done',
      success: true,
      result: { status: 'ok' },
    });
    t.match(media.controls, [{ verb: 'set_volume', value: 0.3 }]);
    t.match(await hub.command('media.set_volume', { value: 101 }), {
      stage: 'refused',
      code: 'invalid_value',
    });
    t.match(await hub.command('media.dance'), {
      stage: 'refused',
      code: 'unknown_action',
      details: { allowed: Array },
    });
    t.match(await hub.command('power.restart'), { stage: 'refused', code: 'feature_disabled' });
    const answer = await hub.command('power.lock');
    t.match(answer, { stage: 'accepted', message: 'Command initiated' });
    const stages = () => hub.answers.filter(({ id }) => id === answer.id).map(({ stage }) => stage);
    await until(() => stages().includes('done'), 'the end of what goes on after the answer');
    t.match(
      service.stderr(),
      /media: set_volume done.*address=192\.0\.2\.7.*hub=hub1.*key=default/,
      'the audit trail names the client, its hub and its key',
    );
  },
);

testBrokers(t, '[3.mqtt-hub-once] nothing is done twice, late, or because it was kept', async (t, broker) => {
  const hub = await TestHub.open(t, broker.url);
  const kept = { hub: 'hub1', id: 'kept', client: '192.0.2.7', run: 'x', deadline: 9e15, params: {} };
  await hub.say(hubCommand('media.play'), kept, { qos: 1, retain: true });
  const clock = new FakeClock();
  const { media, service } = await startAgent(t, broker, {}, { clock });
  await untilOnline(hub, clock);
  await hub.ask('clock');
  t.match(
    service.stderr(),
    /a retained message on hostwire\/pc\/hub\/cmd\/media\/play is not a command and is ignored/,
  );
  t.same(media.controls, []);
  const once = { id: 'one', run: hub.run, deadline: clock.sinceBoot() + 10_000 };
  t.match(await hub.command('media.mute', {}, once), { stage: 'done' });
  t.match(await hub.command('media.mute', {}, once), { stage: 'ignored', code: 'duplicate' });
  const other = await TestHub.open(t, broker.url, 'hub2');
  t.match(await other.command('media.mute', {}, once), { stage: 'done' }, 'the id of another hub');
  t.equal(media.controls.length, 2);
  await clock.advance(10_001);
  const past = { run: hub.run, deadline: once.deadline };
  t.match(await hub.command('media.play', {}, past), { stage: 'ignored', code: 'late' });
  t.match(await hub.command('media.play', {}, { ...past, run: 'another' }), {
    stage: 'ignored',
    code: 'other_run',
  });
  const far = { run: hub.run, deadline: clock.sinceBoot() + 31_000 };
  t.match(await hub.command('media.play', {}, far), { stage: 'refused', code: 'invalid_value' });
  t.equal(media.controls.length, 2);
});

testMosquitto(
  t,
  '[3.mqtt-hub-get] a single question is answered as over HTTP, by the same flags',
  async (t, broker) => {
    const hub = await TestHub.open(t, broker.url);
    const host = { ...fixtureHost(), processes: new FakeProcessHost() };
    const part = (features = {}) => ({ host: { id: 'pc' }, mqtt: hubPart(broker), features });
    const service = await serveHere(t, host, part());
    await until(() => hub.state === 'online', 'online');
    for (const [what, params, path] of [
      ['system', {}, '/api/system'],
      ['system', { detail: true }, '/api/system?detail=1'],
      ['power', {}, '/api/pw'],
      ['media', {}, '/api/media/status'],
      ['media', { detail: true }, '/api/media/status?detail=1'],
      ['media', { player: 'nobody' }, '/api/media/status?player=nobody'],
      ['usage', {}, '/api/usage'],
      ['usage', { sections: ['cpu', 'gpu'], detail: true }, '/api/usage?fields=cpu,gpu&detail=1'],
      ['processes', { grouped: true, limit: 3 }, '/api/processes?grouped=true&limit=3'],
      ['processes', { limit: 'x' }, '/api/processes?limit=x'],
      ['process', { pid: 200 }, '/api/processes/200'],
      ['process', { name: 'nobody' }, '/api/processes/nobody'],
      ['art', {}, '/api/media/art'],
      ['art', { player: 'nobody' }, '/api/media/art?player=nobody'],
      ['history', { series: ['none'], since: -60 }, '/api/history?series=none&since=-60'],
      ['history', { step: 0 }, '/api/history?step=0'],
      ['process_history', { at: -30 }, '/api/history/processes?at=-30'],
      ['process_history', {}, '/api/history/processes'],
    ] as const)
      for (const isOn of [true, false]) {
        service.reconfigure(part({ enable_media: isOn, enable_processes: isOn }));
        const answer = await hub.ask(what, params);
        const http = await fetch(`${service.baseUrl}${path}`);
        const said = await http.text();
        const body = JSON.parse(said === '' ? '{}' : said) as Record<string, unknown>;
        const text = `${what} ${JSON.stringify(params)} ${isOn}`;
        t.equal(answer.success, http.ok, text);
        if (http.ok) t.same(shapeOf(answer.result), shapeOf(body), text);
        else t.equal(answer.code, http.headers.get('x-error-code') ?? body['code'], text);
      }
    t.match(await hub.ask('secrets'), {
      stage: 'refused',
      code: 'unknown_action',
      details: { allowed: Array },
    });
    t.match(await hub.ask('toString'), { code: 'unknown_action' });
  },
);

/** The keys of an answer, and the values that stand still. */
function shapeOf(value: unknown): unknown {
  if (typeof value === 'number') return 'number';
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, shapeOf(each)]));
}

testMosquitto(t, '[3.mqtt-hub-get] answers are bounded in size and number', async (t, broker) => {
  const hub = await TestHub.open(t, broker.url);
  const processes = new FakeProcessHost();
  const [first] = processes.processes;
  if (first === undefined) throw new Error('there is a process');
  for (let pid = 10_000; pid < 14_000; pid++)
    processes.processes.push({ ...first, pid, name: `${'x'.repeat(100)}${pid}` });
  await serveHere(t, { ...fixtureHost(), processes }, { host: { id: 'pc' }, mqtt: hubPart(broker) });
  await until(() => hub.state === 'online', 'online');
  t.match(await hub.ask('processes', { limit: 4000 }), { stage: 'refused', code: 'payload_too_large' });
  t.match(await hub.ask('processes', { limit: 5 }), { stage: 'done' });
  const clock = hub.answers.length;
  for (let count = 0; count < 100; count++) void hub.ask('power');
  await until(() => hub.answers.length >= clock + 100, 'all are answered');
  t.ok(hub.answers.filter(({ code }) => code === 'too_many_requests').length > 0, 'some are refused');
  t.match(await hub.ask('clock'), { stage: 'done' }, 'the clock has a rate of its own');
});
