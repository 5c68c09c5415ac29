/** hostwire/client at a hub with machines behind a broker: their events, and all stages of a command. */
import t from 'tap';
import { WebSocket } from 'ws';
import { connectHub, type HubEvents } from '#src/client/hub-connect.js';
import { FAKE_EVENT, FakeHistory } from '../../../helpers/fakes/history.ts';
import { until } from '../../../helpers/until.ts';
import { isUp } from '../../../hub/setup.ts';
import { startAgent, testMosquitto } from '../../reporter/rig.ts';
import { EVERYTHING, startBrokerHub } from '../setup.ts';

t.setTimeout(280_000);

testMosquitto(
  t,
  '[I.hub.mqtt.client] the client has events, stages, and what others have commanded',
  async (t, broker) => {
    const history = new FakeHistory();
    await startAgent(t, broker, {}, { history });
    const hub = await startBrokerHub(t, broker.url, EVERYTHING);
    await hub.host('pc', isUp);
    const open = () => {
      const socket = connectHub({ url: `http://127.0.0.1:${hub.port}`, WebSocket });
      t.teardown(() => socket.close());
      return socket;
    };
    const [sender, other] = [open(), open()];
    const events: HubEvents['event'][] = [];
    const feedback: HubEvents['media_feedback'][] = [];
    other.on('event', (event) => events.push(event));
    other.on('media_feedback', (told) => feedback.push(told));
    await other.subscribe(['pc'], ['events', 'media']);
    await until(() => {
      history.notify(FAKE_EVENT);
      return events[0];
    });
    t.same(events[0], { host: 'pc', data: FAKE_EVENT });
    const stages: unknown[] = [];
    const onStage = ({ stage }: { readonly stage?: string }) => void stages.push(stage);
    const done = await sender.host('pc').media('set_volume', { value: 20, onStage });
    t.match(done, { success: true, final: true, stage: 'done' });
    t.same(stages, ['accepted', 'running']);
    await until(() => feedback[0]);
    t.match(feedback, [{ host: 'pc', data: { action: 'set_volume', success: true, final: true } }]);
    stages.length = 0;
    t.match(await sender.host('pc').power('lock', { onStage }), { stage: 'done', message: 'Done' });
    t.same(stages, ['accepted', 'running'], 'its end, not its acceptance');
  },
);
