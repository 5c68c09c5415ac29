/** docs/home-assistant.md lists the entities of a machine that has one of everything. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import t from 'tap';
import { deviceDocument } from '#src/exporters/mqtt/discovery/document.js';
import { MAX_THINGS } from '#src/exporters/mqtt/discovery/things.js';
import type { UsageDetail } from '#src/wire/usage.js';
import { type Component, type Document, faultsIn } from './home-assistant.ts';
import { factsOf, payloadOf } from './machines.ts';

const PAGE = path.resolve(import.meta.dirname, '../../../../../docs/home-assistant.md');

function machineWithEverything(): UsageDetail {
  const laptop = payloadOf('laptop');
  const gpu = payloadOf('gpu-nvidia-desktop').gpu;
  const [device] = gpu?.devices ?? [];
  const { cpu, network } = laptop;
  if (!gpu || !device || !cpu || !network)
    throw new Error('these machines have a GPU, a processor and a network');
  const share = { name: 'editor', pid: 7, memory: 1, memory_mb: 1, cpu_time: 1, cpu: 50 };
  const health = { passed: true, percentage_used: 1, power_on_hours: 1, temperature: 30, media_errors: 0 };
  const kinds = [
    ['temperature', '°C'],
    ['fan', 'RPM'],
    ['voltage', 'V'],
    ['power', 'W'],
  ] as const;
  return {
    ...laptop,
    cpu: { ...cpu, power_watts: 10 },
    gpu: {
      ...gpu,
      devices: [
        {
          ...device,
          load: 1,
          temperature: 40,
          memory_used: 1,
          power_watts: 30,
          fan_percent: 20,
          clock_mhz: 900,
        },
      ],
    },
    disks: laptop.disks?.filter(({ fs }) => fs === '/') ?? [],
    network: { ...network, interfaces: network.interfaces.filter(({ kind }) => kind === 'wifi') },
    sensors: kinds.map(([kind, unit]) => ({ label: `(${kind} of a chip)`, kind, value: 1, unit })),
    drives: [{ name: 'sda', model: null, kind: 'ata', health, reason: null }],
    limits: { memory_bytes: 2, memory_used_bytes: 1, cpus: 1, throttled_percent: 0 },
    processes: { count: 300, running: 2, top_cpu: [share], top_memory: [share], age_seconds: 1 },
  };
}

/** Returns the name with its unit, and what it is unless a sensor: `CPU load (%)`, `Sleep (button)`. */
function entryOf({ name, platform, unit_of_measurement }: Component): string {
  const notes = [platform === 'sensor' ? undefined : platform, unit_of_measurement].filter(Boolean);
  return notes.length === 0 ? String(name) : `${name} (${notes.join(', ')})`;
}

function listOf({ components }: Document): string {
  const all = Object.values(components);
  const isOn = ({ enabled_by_default }: Component) => enabled_by_default !== false;
  const isDiagnostic = ({ entity_category }: Component) => entity_category !== undefined;
  const groups = [
    ['Enabled', all.filter((each) => isOn(each) && !isDiagnostic(each))],
    ['Enabled, diagnostic', all.filter((each) => isOn(each) && isDiagnostic(each))],
    ['Disabled at first', all.filter((each) => !isOn(each))],
  ] as const;
  return groups.map(([title, entries]) => `- **${title}**: ${entries.map(entryOf).join(', ')}.`).join('\n');
}

t.test('[3.ha-page] docs/home-assistant.md lists every entity, and the limits', async (t) => {
  const document: Document = JSON.parse(deviceDocument(factsOf(machineWithEverything())).payload);
  t.strictSame(faultsIn(document), []);
  const text = readFileSync(PAGE, 'utf8');
  const [begin = '', rest = ''] = text.split(/(?<=<!-- begin entities[^\n]*-->\n)/, 2);
  const end = rest.slice(rest.indexOf('<!-- end entities -->'));
  const wanted = `${begin}\n${listOf(document)}\n\n${end}`;
  if (process.env['HOSTWIRE_WRITE_DOCS'] === '1') writeFileSync(PAGE, wanted);
  else t.equal(text, wanted, 'run this test with HOSTWIRE_WRITE_DOCS=1');
  for (const most of Object.values(MAX_THINGS)) t.match(text, new RegExp(`\\b${most} [a-zA-Z]+`));
});
