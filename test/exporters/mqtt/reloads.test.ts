/** The exporter after reloads that remove `mqtt.url` and bring it back: what remains of it. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { Listeners } from '#src/listeners.js';
import { findFreePort } from '../../helpers/service/free-port.ts';
import { until } from '../../helpers/until.ts';
import { mqttPart, startBeside } from './broker.ts';

const RELOADS = 100;

/** Counts the listeners of all kinds that were added from now on and not removed. */
function countListeners(): () => number {
  const { add } = Listeners.prototype;
  let count = 0;
  Listeners.prototype.add = function (this: Listeners, listener) {
    const remove = add.call(this, listener);
    count++;
    return () => {
      count--;
      remove();
    };
  };
  return () => count;
}

t.test('[3.mqtt-reloads] 100 reloads leave no listener', async (t) => {
  const listeners = countListeners();
  const part = { host: { id: 'pc' } };
  const { service } = await startBeside(t, part);
  const before = listeners();
  t.ok(before > 0, `${before} of the service itself`);
  const on = { ...part, mqtt: mqttPart(`mqtt://127.0.0.1:${await findFreePort()}`) };
  for (let reload = 0; reload < RELOADS; reload++) {
    const closed = listeners();
    service.reconfigure(on);
    await until(() => listeners() > closed, 'the exporter is open');
    service.reconfigure(part);
    await nextTurn();
  }
  t.equal(listeners(), before);
});
