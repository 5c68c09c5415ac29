/** A machine with sensors and a battery, as files: node_exporter and we make the same families of them. */
import path from 'node:path';
import t from 'tap';
import { makeMachine } from '../../helpers/machine/tree.ts';
import { serveHere } from '../../helpers/service/service.ts';
import { until } from '../../helpers/until.ts';
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
    const service = await serveHere(t, machine.host);
    // The chips are found by the first question of a prober, and read by the next one.
    const ours = await until(async () => {
      const families = parseFamilies(await (await fetch(`${service.baseUrl}/metrics`)).text());
      return (families.get('node_hwmon_temp_celsius')?.samples.size ?? 0) >= 3 && families;
    });
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
