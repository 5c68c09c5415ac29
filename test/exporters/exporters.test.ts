/** A table of exporters at the start, at a reload and at the end; the MQTT exporter after reloads. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import type { Config } from '#src/config/config.js';
import { LiveConfig } from '#src/config/current.js';
import { type ExporterDeps, type ExporterRow, Exporters } from '#src/exporters/exporters.js';
import { Listeners } from '#src/listeners.js';
import { findFreePort } from '../helpers/service/free-port.ts';
import { until } from '../helpers/until.ts';
import { mqttPart, startBeside } from './mqtt/broker.ts';

/** Stands for the configuration: whether the exporter is wanted. */
type Wanted = { isWanted: boolean };

function setUp(isWanted: boolean, open?: ExporterRow['open']) {
  const events: string[] = [];
  const errors: string[] = [];
  const config = new LiveConfig({ isWanted } as unknown as Config);
  const row: ExporterRow = {
    name: 'an exporter',
    isWanted: (current) => (current as unknown as Wanted).isWanted,
    open: async (parts) => {
      events.push('opened');
      await open?.(parts);
      return {
        reconfigure: () => events.push('informed'),
        close: async () => void events.push('closed'),
      };
    },
  };
  const exporters = new Exporters([row]);
  const log = { error: (line: string) => errors.push(line) };
  const parts = { config, log, power: { delays: {} } } as unknown as ExporterDeps;
  const reload = async (next: boolean) => {
    config.replace({ isWanted: next } as unknown as Config);
    await new Promise(setImmediate);
  };
  return { exporters, parts, reload, events, errors };
}

t.test('an exporter is opened when the configuration asks for it, once', async (t) => {
  const { exporters, parts, reload, events } = setUp(false);
  exporters.start(parts);
  t.same(events, [], 'not before');
  await reload(true);
  t.same(events, ['opened']);
  await reload(true);
  t.same(events, ['opened', 'informed']);
  await reload(false);
  t.same(events, ['opened', 'informed', 'closed']);
  await reload(true);
  await exporters.close();
  t.same(events.slice(3), ['opened', 'closed']);
  await reload(true);
  t.equal(events.length, 5, 'nothing is opened after the end');
});

t.test('an exporter that cannot start is an error in the log, and nothing else', async (t) => {
  const { exporters, parts, reload, events, errors } = setUp(true, async () => {
    throw new Error('no such module');
  });
  exporters.start(parts);
  await reload(true);
  await exporters.close();
  t.same(events, ['opened']);
  t.same(errors, ['an exporter does not start: no such module']);
});

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
