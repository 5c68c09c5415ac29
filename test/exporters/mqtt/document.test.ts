/** The device document: what Home Assistant accepts, what is in it, and how things come and go. */
import t from 'tap';
import {
  componentsIn,
  type DiscoveryFacts,
  deviceDocument,
  MISSED_UNTIL_GONE,
  macsOf,
} from '#src/exporters/mqtt/discovery/document.js';
import { slugOf, slugsOf } from '#src/exporters/mqtt/discovery/ids.js';
import { problemsOf } from '#src/exporters/mqtt/discovery/problems.js';
import { stateMessage } from '#src/exporters/mqtt/discovery/state.js';
import { MAX_THINGS } from '#src/exporters/mqtt/discovery/things.js';
import { MEDIA_ACTIONS, POWER_ACTIONS } from '#src/wire/requests.js';
import type { UsageDetail } from '#src/wire/usage.js';
import { begins } from '../../notify/events.ts';
import { type Document, faultsIn } from './home-assistant.ts';
import { factsOf, MEDIA, machines, payloadOf, sampleOf, TOPICS } from './machines.ts';

const documentOf = (facts: DiscoveryFacts): Document => JSON.parse(deviceDocument(facts).payload);
const idsOf = (payload: UsageDetail) => Object.keys(documentOf(factsOf(payload)).components);
const LAPTOP = payloadOf('laptop');

t.test('[3.ha-document] documents of all machines are what Home Assistant accepts', async (t) => {
  t.ok(machines.length > 15, `${machines.length} machines`);
  for (const name of machines) t.strictSame(faultsIn(documentOf(factsOf(payloadOf(name)))), [], name);
});

t.test(
  '[3.ha-device] the device has an identifier, the addresses of its hardware, and its availability',
  async (t) => {
    const { device, ...root } = documentOf(factsOf(LAPTOP));
    t.match(device, { identifiers: ['hostwire_pc-1'], name: 'Office PC', sw_version: /Linux/ });
    const macs = macsOf(sampleOf(LAPTOP));
    t.equal(macs.length, 2, 'Ethernet and Wi-Fi, not the bridge nor the tunnel');
    const [link] = LAPTOP.network?.interfaces.filter(({ kind }) => kind === 'ethernet') ?? [];
    if (!link || !LAPTOP.network) throw new Error('the laptop has Ethernet');
    const interfaces = ['00:00:00:00:00:00', 'AA:BB:CC:DD:EE:FF', 'aa:bb:cc:dd:ee:ff', null].map((mac) => ({
      ...link,
      mac,
    }));
    t.strictSame(
      macsOf(sampleOf({ ...LAPTOP, network: { ...LAPTOP.network, interfaces } })),
      ['aa:bb:cc:dd:ee:ff'],
      'each once, and none of zeros',
    );
    t.strictSame(
      device['connections'],
      macs.map((mac) => ['mac', mac]),
    );
    t.match(root, { availability: [{ topic: TOPICS.availability }], origin: { sw_version: '1.2.3' } });
    t.strictSame(root.components['connected']?.['availability'], [], 'off while the others are unavailable');
    t.notOk(
      documentOf(factsOf(payloadOf('no-swap-minimal'))).device['connections'],
      'no hardware, no address',
    );
  },
);

t.test('[3.ha-absent] parts that a machine lacks have no entity', async (t) => {
  const has = (machine: string, id: RegExp) => idsOf(payloadOf(machine)).some((each) => id.test(each));
  for (const part of [/^battery_/, /^mains$/, /^sensor_/, /^gpu_/, /^cpu_temperature/, /^swap_/, /_signal$/])
    t.notOk(has('no-swap-minimal', part), `${part} of the smallest machine`);
  for (const part of [/^battery_.*percent/, /^mains$/, /^sensor_/, /^cpu_temperature/, /^swap_/, /_signal$/])
    t.ok(has('laptop', part), `${part} of the laptop`);
  t.notOk(
    has('laptop', /^interface_(?:lo|veth|docker)/),
    'neither loopback nor the interfaces of containers',
  );
  t.equal(idsOf(payloadOf('laptop-two-batteries')).filter((id) => /^battery_.*_percent$/.test(id)).length, 2);
  const ids = idsOf(payloadOf('gpu-nvidia-desktop'));
  t.ok(ids.filter((id) => /^gpu_.*_load$/.test(id)).length >= 1, 'a GPU has a load');
  const image = { ...LAPTOP, disks: LAPTOP.disks?.map((disk) => ({ ...disk, type: 'squashfs' })) ?? [] };
  t.notOk(
    idsOf(image).some((id) => id.startsWith('disk_')),
    'images are always full',
  );
});

/** The laptop with its lists in the other direction. */
const reversed: UsageDetail = {
  ...LAPTOP,
  sensors: LAPTOP.sensors.toReversed(),
  drives: LAPTOP.drives.toReversed(),
  disks: LAPTOP.disks?.toReversed() ?? [],
  ...(LAPTOP.network && {
    network: { ...LAPTOP.network, interfaces: LAPTOP.network.interfaces.toReversed() },
  }),
};

t.test('[3.ha-ids] an id depends on the thing alone', async (t) => {
  t.strictSame(idsOf(reversed).sort(), idsOf(LAPTOP).sort(), 'in any order');
  const alone = { ...LAPTOP, disks: LAPTOP.disks?.filter(({ fs }) => fs === '/home') ?? [] };
  const home = (ids: readonly string[]) => ids.filter((id) => id.startsWith('disk_home'));
  t.strictSame(home(idsOf(alone)), home(idsOf(LAPTOP)), 'whatever else there is');
  const renamed = { ...factsOf(LAPTOP), name: 'Another name' };
  t.strictSame(Object.keys(documentOf(renamed).components), idsOf(LAPTOP), 'whatever the machine is called');
  const [sensor] = LAPTOP.sensors;
  const places = (label: string) => ({
    ...factsOf(LAPTOP),
    sample: sampleOf(
      { ...LAPTOP, sensors: sensor === undefined ? [] : [{ ...sensor, label }] },
      {
        sensors: [
          {
            driver: '',
            chip: '',
            label,
            device: 'platform/x',
            file: 'temp1_input',
            kind: 'temperature',
            value: 1,
            failure: null,
          },
        ],
      },
    ),
  });
  const sensorIds = (facts: DiscoveryFacts) =>
    Object.keys(documentOf(facts).components).filter((id) => id.startsWith('sensor_'));
  t.strictSame(
    sensorIds(places('chip hwmon1')),
    sensorIds(places('chip hwmon2')),
    'by the device of a sensor',
  );
});

t.test('[3.ha-ids] names that look alike have ids of their own', async (t) => {
  const [disk] = LAPTOP.disks ?? [];
  if (disk === undefined) throw new Error('the laptop has disks');
  const names = ['/a', '/A', '/a/', '/a_', '/ä', '/ö', '/a b', '/a-b', 'root', '/', '/'];
  const payload = { ...LAPTOP, disks: names.map((fs) => ({ ...disk, fs })) };
  const ids = idsOf(payload).filter((id) => id.endsWith('_used_percent') && id.startsWith('disk_'));
  t.equal(new Set(ids).size, names.length);
  t.strictSame(faultsIn(documentOf(factsOf(payload))), []);
});

t.test('[3.ha-ids] of things with one name the second is number 2', async (t) => {
  t.strictSame(
    slugsOf(['RTX 4090', 'eth0', 'RTX 4090', 'RTX 4090', 'eth0']),
    ['RTX 4090', 'eth0', 'RTX 4090 #2', 'RTX 4090 #3', 'eth0 #2'].map(slugOf),
  );
});

t.test('[3.ha-bounds] a document has a limit, whatever the machine has', async (t) => {
  const [disk] = LAPTOP.disks ?? [];
  const [link] = LAPTOP.network?.interfaces ?? [];
  const [sensor] = LAPTOP.sensors;
  if (!disk || !link || !sensor || !LAPTOP.network) throw new Error('the laptop has one of each');
  const many = Array.from({ length: 1000 }, (_, at) => at);
  const payload: UsageDetail = {
    ...LAPTOP,
    disks: many.map((at) => ({ ...disk, fs: `/mnt/${at}` })),
    network: { ...LAPTOP.network, interfaces: many.map((at) => ({ ...link, kind: 'vlan', name: `v${at}` })) },
    sensors: many.map((at) => ({ ...sensor, label: `chip ${at}` })),
  };
  const ids = idsOf(payload);
  const count = (end: RegExp) => ids.filter((id) => end.test(id)).length;
  t.equal(count(/^disk_.*_used_percent$/), MAX_THINGS.disk);
  t.equal(count(/^interface_.*_receive$/), MAX_THINGS.interface);
  t.equal(count(/^sensor_/), MAX_THINGS.sensor);
  t.ok(deviceDocument(factsOf(payload)).payload.length < 512 * 1024);
});

t.test('[3.ha-removal] a thing that is gone is removed once, and not because of one reading', async (t) => {
  const without = { ...LAPTOP, disks: LAPTOP.disks?.filter(({ fs }) => fs !== '/home') ?? [] };
  const homes = (payload: string) =>
    Object.entries((JSON.parse(payload) as Document).components).filter(([id]) => id.startsWith('disk_home'));
  let { components, payload } = deviceDocument(factsOf(LAPTOP));
  const announced = homes(payload);
  t.ok(announced.length > 5);
  for (let missed = 1; missed < MISSED_UNTIL_GONE; missed++) {
    ({ components, payload } = deviceDocument(factsOf(without), components));
    t.strictSame(homes(payload), [], `left out the ${missed}. time`);
  }
  const back = deviceDocument(factsOf(LAPTOP), components);
  t.strictSame(homes(back.payload), announced, 'it was only a reading');
  ({ components, payload } = deviceDocument(factsOf(without), components));
  t.strictSame(
    homes(payload),
    announced.map(([id, { platform }]) => [id, { platform }]),
    'removed',
  );
  t.strictSame(faultsIn(JSON.parse(payload)), []);
  ({ components, payload } = deviceDocument(factsOf(without), components));
  t.strictSame(homes(payload), [], 'once');
  t.equal(payload, deviceDocument(factsOf(without), components).payload, 'and then nothing changes');
});

const announces = (payload: string, id: string) =>
  (JSON.parse(payload) as Document).components[id]?.['unique_id'] !== undefined;

t.test('[3.ha-known] a value that was known once keeps its entity while it is unknown', async (t) => {
  const cool: UsageDetail = { ...LAPTOP, ...(LAPTOP.cpu && { cpu: { ...LAPTOP.cpu, temperature: null } }) };
  const { components } = deviceDocument(factsOf(LAPTOP));
  t.notOk(idsOf(cool).includes('cpu_temperature'));
  t.ok(announces(deviceDocument(factsOf(cool), components).payload, 'cpu_temperature'));
  const silent = { ...factsOf(LAPTOP), media: { ...MEDIA, volume: null } };
  t.notOk(deviceDocument(silent).components.has('media_volume'));
  t.ok(announces(deviceDocument(silent, components).payload, 'media_volume'));
});

t.test(
  '[3.ha-known] the document that a broker has kept is as good as the last one; other texts are none',
  async (t) => {
    const { components, payload } = deviceDocument(factsOf(LAPTOP));
    t.strictSame([...componentsIn(payload)], [...components]);
    for (const junk of ['', '{', '[]', '7', 'null', '{"components":null}', '{"components":{"a":1,"b":null}}'])
      t.equal(componentsIn(junk).size, 0, junk);
    const odd = {
      '../x': { platform: 'sensor', unique_id: 'a' },
      y: { platform: 'tag', unique_id: 'b' },
      z: { platform: 'sensor' },
    };
    t.equal(componentsIn(JSON.stringify({ components: odd })).size, 0, 'nor what we never write');
  },
);

t.test('[3.ha-commands] buttons exist for what the flags allow and the machine can do', async (t) => {
  const able = { enabled: true, supported: true, reason: null };
  const off = { ...able, enabled: false };
  const unable = { ...able, supported: false, reason: 'no' };
  const actions = { shutdown: off, restart: able, sleep: able, hibernate: unable, lock: able };
  const ids = Object.keys(documentOf({ ...factsOf(LAPTOP), power: actions }).components);
  t.strictSame(ids.filter((id) => id.startsWith('power_do_')).sort(), [
    'power_do_cancel',
    'power_do_lock',
    'power_do_restart',
    'power_do_sleep',
  ]);
  const none = { shutdown: off, restart: off, sleep: off, hibernate: off, lock: off };
  const powerless = documentOf({ ...factsOf(LAPTOP), power: none, media: undefined });
  const controls = Object.entries(powerless.components).filter(
    ([id, component]) => /^(?:power|media)_/.test(id) || 'command_topic' in component,
  );
  t.strictSame(controls, [], 'nothing at all where nothing is allowed');
  const before = deviceDocument(factsOf(LAPTOP)).components;
  const after = JSON.parse(deviceDocument({ ...factsOf(LAPTOP), power: none }, before).payload) as Document;
  t.strictSame(
    after.components['power_do_sleep'],
    { platform: 'button' },
    'a flag that is turned off removes it immediately',
  );
});

/** A topic that several commands share: the command is named by the payload. */
const SHARED = new Map([[TOPICS.command('media'), 'media.']]);

t.test('[3.ha-commands] every command topic is that of a command', async (t) => {
  const names = [
    ...MEDIA_ACTIONS.map((action) => `media.${action}`),
    ...[...POWER_ACTIONS, 'cancel'].map((action) => `power.${action}`),
  ];
  const known = new Set(names.map((name) => TOPICS.command(name)));
  const { components } = documentOf(factsOf(LAPTOP));
  let count = 0;
  for (const [id, component] of Object.entries(components)) {
    const topic = component['command_topic'];
    if (typeof topic !== 'string') continue;
    count++;
    const prefix = SHARED.get(topic);
    if (prefix === undefined) t.ok(known.has(topic), `${id}: ${topic}`);
    else
      for (const key of ['payload_on', 'payload_off'])
        t.ok(names.includes(prefix + JSON.parse(String(component[key])).action), `${id}: ${component[key]}`);
  }
  t.ok(count > 10, `${count} commands`);
});

t.test('[3.ha-privacy] without the flag of processes no name of one leaves the machine', async (t) => {
  t.notOk(
    idsOf(LAPTOP).some((id) => id.startsWith('processes')),
    'absent from the sample, absent here',
  );
  const share = { name: 'editor', pid: 7, memory: 1, memory_mb: 1, cpu_time: 1, cpu: 50 };
  const processes = { count: 300, running: 2, top_cpu: [share], top_memory: [share], age_seconds: 1 };
  const document = documentOf(factsOf({ ...LAPTOP, processes }));
  t.match(document.components['processes_top'], { enabled_by_default: false, state_topic: TOPICS.state });
  t.strictSame(faultsIn(document), []);
});

t.test('[12.ha-problems] a problem per rule and subject, on while an event of it lasts', async (t) => {
  const rule = (subject: string) => begins(subject);
  const open = [rule('full disk.used_percent//'), rule('full disk.used_percent//srv')];
  const crash = { ...begins('crashed'), kind: 'machine' } as const;
  const problems = problemsOf(['full', 'Hot room'], [...open, crash]);
  const facts = factsOf(LAPTOP, { problems });
  const document = documentOf(facts);
  t.strictSame(faultsIn(document), []);
  const state = JSON.parse(stateMessage(facts)) as Record<string, unknown>;
  for (const [name, isOn] of [
    ['full', true],
    ['Hot room', false],
    ['crashed', true],
    ['wrong_keys', false],
  ] as const) {
    const id = `watch_rule_${slugOf(name)}`;
    t.equal(state[id], isOn, name);
    t.match(document.components[id], { platform: 'binary_sensor', device_class: 'problem', name });
  }
  const { components } = deviceDocument(facts);
  const without = deviceDocument(factsOf(LAPTOP, { problems: problemsOf(['full'], []) }), components);
  const gone = JSON.parse(without.payload) as Document;
  t.strictSame(
    gone.components[`watch_rule_${slugOf('Hot room')}`],
    { platform: 'binary_sensor' },
    'a removed rule is gone at once',
  );
  const many = Array.from({ length: 500 }, (_, i) => `rule${i}`);
  t.equal(problemsOf(many, []).size, 64);
});
