/** The templates of the documents, rendered by Jinja over the messages: each makes a state that Home Assistant takes. */
import t from 'tap';
import { type DiscoveryFacts, deviceDocument } from '#src/exporters/mqtt/discovery/document.js';
import { mediaMessage, powerMessage, stateMessage } from '#src/exporters/mqtt/discovery/state.js';
import type { MediaDetail } from '#src/wire/media.js';
import type { UsageDetail } from '#src/wire/usage.js';
import { FAKE_EVENT } from '../../../helpers/fakes/history.ts';
import { type Component, type Document, render, UNKNOWN, whyNoJinja, whyNoState } from '../home-assistant.ts';
import { factsOf, MEDIA, machines, payloadOf, sampleOf, TOPICS } from '../machines.ts';

const LAPTOP = payloadOf('laptop');
const skip = whyNoJinja;

type Shown = readonly (readonly [id: string, component: Component, text: string])[];

/** The components of `document` that read `topic`, with what their templates make of `message`. */
function show(document: Document, topic: string, message: string): Shown {
  const shown = Object.entries(document.components).filter(
    ([, { state_topic, value_template }]) => state_topic === topic && value_template !== undefined,
  );
  const texts = render(
    shown.map(([, component]) => ({ template: String(component['value_template']), message })),
  );
  return shown.map(([id, component], at) => [id, component, texts[at] ?? '']);
}

const documentOf = (facts: DiscoveryFacts): Document => JSON.parse(deviceDocument(facts).payload);
const stateOf = (shown: Shown, id: string) => shown.find(([each]) => each === id)?.[2];
const faults = (shown: Shown) =>
  shown.flatMap(([id, component, text]) => {
    const why = whyNoState(component, text);
    return why === undefined ? [] : [`${id}: ${why}`];
  });

t.test('[3.ha-templates] every template makes a state, of every machine', { skip }, async (t) => {
  for (const name of machines) {
    const facts = factsOf(payloadOf(name));
    const shown = show(documentOf(facts), TOPICS.state, stateMessage(facts));
    t.ok(shown.length > 10, `${shown.length} entities of ${name}`);
    t.strictSame(faults(shown), [], name);
  }
});

t.test(
  '[3.ha-templates] the states are those of the machine, in the units that people read',
  { skip },
  async (t) => {
    const facts = factsOf(LAPTOP);
    const shown = show(documentOf(facts), TOPICS.state, stateMessage(facts));
    const { cpu, memory, network, disks } = LAPTOP;
    const disk = disks?.find(({ fs }) => fs === '/');
    const close = (id: string, value: number | null | undefined, unit: string) => {
      const component = documentOf(facts).components[id];
      t.equal(component?.['unit_of_measurement'], unit, id);
      t.ok(
        Math.abs(Number(stateOf(shown, id)) - (value ?? Number.NaN)) < 0.01,
        `${id} is ${stateOf(shown, id)}`,
      );
    };
    close('cpu_load', cpu?.current_load, '%');
    close('memory_used', (memory?.used ?? 0) / 2 ** 30, 'GiB');
    close('network_receive', ((network?.receive_rate ?? 0) * 8) / 1e6, 'Mbit/s');
    close('network_received', (network?.bytesRecv ?? 0) / 1e9, 'GB');
    close('disk_root_free', (disk?.available ?? 0) / 2 ** 30, 'GiB');
    close('disk_root_read', (disk?.read_rate ?? 0) / 1e6, 'MB/s');
    t.equal(stateOf(shown, 'mains'), LAPTOP.batteries[0]?.state === 'discharging' ? 'False' : 'True');
    t.equal(stateOf(shown, 'disk_root_silent'), 'False');
    t.equal(stateOf(shown, 'address'), '192.0.2.1');
    t.equal(stateOf(shown, 'last_boot'), new Date((LAPTOP.timestamp - LAPTOP.uptime) * 1000).toISOString());
  },
);

t.test('[3.ha-event] an event has its type where Home Assistant looks for it', { skip }, async (t) => {
  const shown = show(documentOf(factsOf(LAPTOP)), TOPICS.event, JSON.stringify(FAKE_EVENT));
  t.equal(shown.length, 1);
  t.strictSame(JSON.parse(stateOf(shown, 'watch_event') ?? ''), { ...FAKE_EVENT, event_type: 'begin' });
  const { components } = documentOf(factsOf(LAPTOP, { hasRules: false }));
  t.notOk('watch_event' in components, 'without rules there is none');
});

/** All numbers of a value are unknown. */
function forget(value: unknown): unknown {
  if (typeof value === 'number') return null;
  if (Array.isArray(value)) return value.map(forget);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, forget(part)]));
}

t.test('[3.ha-unknown] null is shown as unknown, never as 0 or the last value', { skip }, async (t) => {
  for (const name of ['laptop', 'gpu-nvidia-desktop', 'server-2s']) {
    const payload = payloadOf(name);
    const facts = factsOf(payload);
    const { timestamp, uptime } = payload;
    const forgotten = { ...(forget(payload) as UsageDetail), timestamp, uptime };
    const shown = show(
      documentOf(facts),
      TOPICS.state,
      stateMessage({ ...facts, sample: sampleOf(forgotten) }),
    );
    const numbers = shown.filter(([, { state_class }]) => state_class !== undefined);
    t.ok(numbers.length > 10);
    t.strictSame(
      numbers.filter(([, , text]) => text !== UNKNOWN),
      [],
      name,
    );
    t.strictSame(faults(show(documentOf(facts), TOPICS.state, '{}')), [], 'a message without anything');
  }
});

const STATES: readonly (readonly [Partial<MediaDetail>, string])[] = [
  [{}, 'playing'],
  [{ playback: 'paused', playing: false }, 'paused'],
  [{ playback: 'stopped', playing: false, status: 'idle', title: '', artist: '' }, 'idle'],
  [
    {
      playback: 'stopped',
      playing: false,
      status: 'stopped',
      player: null,
      players: [],
      volume: null,
      muted: null,
      position: null,
      album: null,
      title: '',
      artist: '',
    },
    'stopped',
  ],
];

t.test('[3.ha-media] the media message has a state for every entity that reads it', { skip }, async (t) => {
  const document = documentOf(factsOf(LAPTOP));
  for (const [change, state] of STATES) {
    const shown = show(document, TOPICS.media, mediaMessage({ ...MEDIA, ...change }));
    t.equal(stateOf(shown, 'media_state'), state);
    t.strictSame(faults(shown), [], state);
    if (state === 'stopped')
      t.strictSame(
        shown.filter(([id, , text]) => !/state|playing/.test(id) && text !== UNKNOWN),
        [],
        'all else is unknown',
      );
  }
  const loud = show(document, TOPICS.media, mediaMessage({ ...MEDIA, volume: 150, title: '🎵'.repeat(300) }));
  t.equal(stateOf(loud, 'media_volume'), '100');
  t.equal([...(stateOf(loud, 'media_title') ?? '')].length, 255);
});

t.test('[3.ha-power] the power message: the pending action and its time', { skip }, async (t) => {
  const document = documentOf(factsOf(LAPTOP));
  const none = show(document, TOPICS.power, powerMessage({ pending: null }));
  t.strictSame(faults(none), []);
  t.equal(stateOf(none, 'power_pending'), 'none');
  t.equal(stateOf(none, 'power_pending_at'), UNKNOWN);
  const pending = show(document, TOPICS.power, powerMessage({ pending: { action: 'restart', at: 1e9 } }));
  t.strictSame(faults(pending), []);
  t.equal(stateOf(pending, 'power_pending'), 'restart');
  t.equal(stateOf(pending, 'power_pending_at'), '2001-09-09T01:46:40.000Z');
});

t.test('[3.ha-commands] the payload of a command is JSON with its parameters', { skip }, async (t) => {
  const { components } = documentOf(factsOf(LAPTOP));
  const odd = MEDIA.players[1];
  const sent = (id: string, value: unknown) =>
    JSON.parse(render([{ template: String(components[id]?.['command_template']), value }])[0] ?? '');
  t.strictSame(sent('media_volume', 40), { value: 40 });
  t.strictSame(sent('media_position', 12.5), { value: 12.5 });
  t.strictSame(sent('media_select_player', odd), { player: odd });
  const buttons = Object.values(components).filter(({ platform }) => platform === 'button');
  for (const { payload_press } of buttons) t.strictSame(JSON.parse(String(payload_press)), {});
});

t.test(
  '[3.ha-attributes] the busiest process has attributes; none while it is unknown',
  { skip },
  async (t) => {
    const share = { name: 'a <b>', pid: 7, memory: 1, memory_mb: 1.5, cpu_time: 1, cpu: 50 };
    const processes = { count: 300, running: 2, top_cpu: [share], top_memory: [share], age_seconds: 1 };
    const facts = factsOf({ ...LAPTOP, processes });
    const template = String(documentOf(facts).components['processes_top']?.['json_attributes_template']);
    const attributes = (message: string) => JSON.parse(render([{ template, message }])[0] ?? '');
    t.strictSame(attributes(stateMessage(facts)), { pid: 7, cpu_percent: 50, memory_mib: 1.5 });
    t.strictSame(attributes('{}'), {});
    t.equal(stateOf(show(documentOf(facts), TOPICS.state, stateMessage(facts)), 'processes_top'), 'a <b>');
  },
);
