/** Brokers that die and stand still under a hub: what viewers see, and that no command is done twice or late. */
import t from 'tap';
import { ask } from '../../../helpers/clients/http.ts';
import { until } from '../../../helpers/until.ts';
import { isDown, isUp, watch } from '../../../hub/setup.ts';
import { startAgent, testBrokers } from '../../reporter/rig.ts';
import { EVERYTHING, PlayedAgent, startBrokerHub } from '../setup.ts';

t.setTimeout(280_000);

const control = async (port: number, action: string) =>
  await ask(port, '/api/hosts/pc/media/control', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ action }),
  });
const mute = async (port: number) => await control(port, 'mute');

testBrokers(t, '[I.hub.mqtt.broker] killed and started again', async (t, broker) => {
  const { media } = await startAgent(t, broker);
  const hub = await startBrokerHub(t, broker.url, EVERYTHING);
  const stream = await watch(hub, 'pc', '?fields=cpu');
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    const before = stream.count();
    await until(() => stream.count() > before);
    await broker.kill(signal);
    // A broker that shuts down cleanly may send the agent's last will first.
    const away = await hub.host('pc', ({ reason }) => reason === 'the broker is unreachable');
    t.ok(isDown(away));
    t.equal((await mute(hub.port)).status, 503, 'not sent');
    const last = stream.count();
    await broker.start();
    await hub.host('pc', isUp);
    await until(() => stream.count() > last);
  }
  t.same(media.controls, [], 'and not done later');
  t.equal((await mute(hub.port)).status, 200);
  t.equal(media.controls.length, 1);
});

testBrokers(t, '[I.hub.mqtt.stopped] a broker that stands still does nothing late', async (t, broker) => {
  const { media } = await startAgent(t, broker);
  const hub = await startBrokerHub(t, broker.url, EVERYTHING, { commandMs: 3000, answerMs: 3000 });
  await hub.host('pc', isUp);
  t.equal((await mute(hub.port)).status, 200);
  await broker.freeze();
  const answers = await Promise.all(Array.from({ length: 5 }, async () => await control(hub.port, 'pause')));
  t.same(
    answers.map(({ status }) => status),
    [504, 504, 504, 504, 503],
    'the outcome is unknown; one address may have four under way, so the fifth was not sent',
  );
  broker.thaw();
  await hub.host('pc', isUp);
  // Messages that it has kept are delivered before this one.
  await until(async () => (await mute(hub.port)).status === 200);
  const paused = () => media.controls.filter(({ verb }) => verb === 'pause').length;
  t.equal(paused(), 0, 'too late');
  t.equal((await control(hub.port, 'pause')).status, 200);
  t.equal(paused(), 1, 'in time');
});

testBrokers(
  t,
  '[I.hub.mqtt.silent] hub and agent leave a broker that does not answer, and find it again',
  async (t, broker) => {
    const { service } = await startAgent(t, broker);
    const hub = await startBrokerHub(t, broker.url, EVERYTHING);
    const stream = await watch(hub, 'pc', '?fields=cpu');
    await broker.freeze();
    const left = /lost connection to .* \(no answer from the broker within the timeout\)/;
    await hub.host('pc', ({ reason }) => reason === 'the broker is unreachable');
    t.match(hub.log.join(''), left, 'the hub, before the keep-alive of MQTT has ended');
    await until(() => /lost connection/.test(service.stderr()));
    t.match(service.stderr(), left, 'the agent, since its lease was not renewed');
    broker.thaw();
    await hub.host('pc', isUp);
    const last = stream.count();
    await until(() => stream.count() > last);
    t.notOk(stream.isEnded);
  },
);

testBrokers(t, '[I.hub.mqtt.run] a command is for one run of the agent', async (t, broker) => {
  const agent = await PlayedAgent.start(t, broker.url, 'pc');
  const hub = await startBrokerHub(t, broker.url, EVERYTHING);
  await hub.host('pc', isUp);
  const asked = () => agent.asked.filter(({ topic }) => topic.endsWith('/media/mute'));
  const lost = mute(hub.port);
  await until(() => asked().length === 1);
  t.match(asked()[0], { run: 'run1' });
  agent.cut();
  t.equal((await lost).status, 504, 'it went away with the command');
  const next = await PlayedAgent.start(t, broker.url, 'pc', 'run2');
  await hub.host('pc', isUp);
  const answered = mute(hub.port);
  const found = await until(() => next.asked.find(({ topic }) => topic.endsWith('/media/mute')));
  t.match(found, { run: 'run2' });
  await next.answer(found.id, { stage: 'done', result: { status: 'ok' }, delivered: 'true' });
  t.equal((await answered).status, 200);
});
