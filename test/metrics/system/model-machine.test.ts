/** A machine with sensors and a battery, as files: node_exporter and we make the same families of them. */
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { PATIENCE_MS } from '../../helpers/limits.ts';
import { makeMachine } from '../../helpers/machine/tree.ts';
import { startHere } from '../../helpers/service/service.ts';
import { parseFamilies } from '../families.ts';
import { MODEL } from '../model.ts';
import { startNodeExporter, whyNo } from '../programs.ts';

/** docs/metrics.md names them. */
const MISSING = /^node_power_supply_(?:info|present|cyclecount)$/;
const COMPARED = /^node_(?:hwmon_|power_supply_|disk_info|time_clocksource_)/;
/** Not for everybody who may read loads. */
const SECRET = /(serial|wwn)=[^,]*/g;

t.test(
  '[3.metrics-devices] sensors, power supplies, drives and clock sources have the names, labels and values of node_exporter',
  { skip: whyNo('prometheus-node-exporter') },
  async (t) => {
    const machine = makeMachine(t, MODEL);
    const folder = (name: string) =>
      `--path.${name}fs=${path.join(machine.root, name === 'root' ? '' : name)}`;
    const udev = `--path.udev.data=${path.join(machine.root, 'run/udev/data')}`;
    const url = await startNodeExporter(t, [folder('proc'), folder('sys'), folder('root'), udev]);
    const theirs = parseFamilies(await (await fetch(url)).text());
    const service = await startHere(machine.host);
    t.teardown(() => service.stop());
    const scrape = async () => parseFamilies(await (await fetch(`${service.baseUrl}/metrics`)).text());
    // The chips are found by the first question of a prober, and read by the next one.
    let ours = await scrape();
    const deadline = performance.now() + PATIENCE_MS;
    while ((ours.get('node_hwmon_temp_celsius')?.samples.size ?? 0) < 3 && performance.now() < deadline) {
      await sleep(200);
      ours = await scrape();
    }
    const names = [...theirs.keys()].filter((name) => COMPARED.test(name) && !MISSING.test(name));
    t.ok(names.length >= 15, names.join(' '));
    for (const name of names) {
      const [own, other] = [ours.get(name), theirs.get(name)];
      t.strictSame([own?.type, own?.help], [other?.type, other?.help], name);
      const shown = [...(other?.samples ?? [])].map(([key, value]) => [key.replaceAll(SECRET, '$1='), value]);
      t.strictSame([...(own?.samples ?? [])].sort(), shown.sort(), name);
    }
    for (const name of ours.keys()) if (COMPARED.test(name)) t.ok(theirs.has(name), `${name} is theirs`);
  },
);
