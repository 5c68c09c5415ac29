/** The shapes of status, usage and system, key by key, over a machine made of literals. */
import t from 'tap';
import type { BatteryDetail, DriveDetail, LimitsDetail, SensorDetail } from '#src/wire/details.js';
import type { CpuDetail, DiskDetail, GpuDetail, MemoryDetail, NetworkDetail } from '#src/wire/sample.js';
import { checkHeaders, JSON_HEADERS } from '../helpers/clients/answers.ts';
import { EventStream, payloadOf } from '../helpers/clients/event-stream.ts';
import { ask, jsonOf, valuesOf } from '../helpers/clients/http.ts';
import { FakeClock, settle } from '../helpers/fakes/clock.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { FIRST_WINDOW_MS, startOnClock } from '../helpers/service/clocked.ts';
import { serveHere } from '../helpers/service/service.ts';

const GIB = 1024 ** 3;

/** A payload of usage or system: the tests check the values they take out of it. */
interface Payload {
  readonly timestamp: number;
  readonly uptime: number;
  readonly cpu: CpuDetail;
  readonly memory: MemoryDetail;
  readonly gpu: GpuDetail | null;
  readonly disks: readonly DiskDetail[];
  readonly network: NetworkDetail;
  readonly interval_seconds?: number;
  readonly host?: string;
  readonly sensors?: readonly SensorDetail[];
  readonly batteries?: readonly BatteryDetail[];
  readonly drives?: readonly DriveDetail[];
  readonly limits?: LimitsDetail | null;
  readonly boot_time?: number;
  readonly service?: object;
  readonly interfaces?: readonly object[];
}

// Read off the wire: only the checks of the tests establish the type.
const asPayload = (value: unknown) => value as Payload;
const keysOf = (value: object | null | undefined) => Object.keys(value ?? {});

const service = await serveHere(t, fixtureHost());
const read = async (target: string) => asPayload(jsonOf(await ask(service.port, target)));

t.test('[3.status] [I.status-public] exactly {"status":"ok"}', async (t) => {
  for (const query of ['', '?detail=1', '?fields=cpu']) {
    const answer = await ask(service.port, `/api/status${query}`);
    t.equal(answer.body.toString(), '{"status":"ok"}');
    checkHeaders(t, answer, JSON_HEADERS);
  }
});

t.test(
  '[I.payload] [I.cpu] [I.memory] [I.disks] [I.network] [3.keys] a default payload has exactly the documented keys',
  async (t) => {
    const payload = await read('/api/usage');
    t.strictSame(keysOf(payload), ['timestamp', 'uptime', 'cpu', 'memory', 'gpu', 'disks', 'network']);
    t.strictSame(keysOf(payload.cpu), ['current_load', 'current_temp', 'current_speed']);
    t.strictSame(keysOf(payload.memory), ['used', 'free', 'used_percent']);
    t.strictSame(keysOf(payload.gpu), ['current_load', 'current_temp', 'current_memory']);
    for (const disk of payload.disks) t.strictSame(keysOf(disk), ['fs', 'used', 'available', 'used_percent']);
    t.strictSame(keysOf(payload.network), ['bytesSent', 'bytesRecv']);
  },
);

t.test(
  '[3.units] [3.top] [3.cpu] [3.memory] [3.gpu] [3.disks] [3.network] values in their units',
  async (t) => {
    const payload = await read('/api/usage');
    t.ok(Number.isInteger(payload.timestamp) && Math.abs(payload.timestamp - Date.now() / 1000) < 5);
    t.ok(Number.isInteger(payload.uptime) && payload.uptime > 0);
    t.equal(payload.cpu.current_load, 30, '30 of 100 ticks');
    t.equal(payload.cpu.current_temp, 51.3, '°C with one decimal');
    t.equal(payload.cpu.current_speed, 3.4, 'GHz');
    t.strictSame(payload.memory, { used: 12 * GIB, free: 4 * GIB, used_percent: 75 });
    t.strictSame(payload.gpu, { current_load: 12.3, current_temp: 40, current_memory: 512 });
    const disk = payload.disks[0];
    t.equal(disk?.fs, '/');
    t.equal(disk?.used, 40 * GIB);
    t.equal(disk?.available, 55 * GIB);
    t.equal(disk?.used_percent, 42.1, '40 / 95, as df');
    t.ok(payload.network.bytesRecv >= 5000 && payload.network.bytesSent >= 3000);
  },
);

t.test('[3.no-answer] a mount that never answered: left out, in detail nulls and stale', async (t) => {
  const plain = await read('/api/usage?fields=disks');
  t.strictSame(
    plain.disks.map((disk) => disk.fs),
    ['/'],
  );
  const { disks } = await read('/api/usage?fields=disks&detail=1');
  t.equal(disks[1]?.fs, '/never-answered');
  t.equal(disks[1]?.stale, true);
  t.strictSame(
    [disks[1]?.used, disks[1]?.available, disks[1]?.used_percent, disks[1]?.size],
    [null, null, null, null],
  );
});

t.test(
  '[3.detail-cpu] [3.detail-memory] [3.detail-gpu] [3.detail-disks] [3.detail-network] keys of detail',
  async (t) => {
    const payload = await read('/api/usage?detail=1');
    t.match(keysOf(payload).slice(0, 5), [
      'timestamp',
      'uptime',
      'interval_seconds',
      'window_seconds',
      'host',
    ]);
    t.strictSame(
      keysOf(payload.cpu),
      'current_load current_temp current_speed cores speeds load_average breakdown temperature power_watts pressure'.split(
        ' ',
      ),
    );
    t.strictSame(keysOf(payload.cpu.breakdown), 'user system nice iowait irq steal idle'.split(' '));
    t.strictSame(
      keysOf(payload.memory),
      'used free used_percent total cached buffers swap pressure'.split(' '),
    );
    t.strictSame(keysOf(payload.memory.swap), 'total used free used_percent'.split(' '));
    const device =
      'name vendor load temperature memory_used memory_total power_watts fan_percent clock_mhz asleep';
    t.strictSame(
      keysOf(payload.gpu),
      'current_load current_temp current_memory name vendor memory_total power_watts fan_percent clock_mhz asleep devices'.split(
        ' ',
      ),
    );
    t.strictSame(keysOf(payload.gpu?.devices[0]), device.split(' '));
    t.strictSame(
      keysOf(payload.disks[0]),
      (
        'fs used available used_percent device type size label read_only removable stale ' +
        'read_bytes write_bytes read_rate write_rate busy_percent'
      ).split(' '),
    );
    t.strictSame(
      keysOf(payload.network),
      'bytesSent bytesRecv send_rate receive_rate packetsSent packetsRecv errin errout dropin dropout interfaces'.split(
        ' ',
      ),
    );
    t.strictSame(
      keysOf(payload.network.interfaces[0]),
      (
        'name kind up speed_mbps mac addresses bytesSent bytesRecv send_rate receive_rate ' +
        'errin errout dropin dropout signal_dbm'
      ).split(' '),
    );
  },
);

t.test(
  '[3.detail-top] [3.drives] [3.limits] the keys that detail adds beside the sections, in every view',
  async (t) => {
    for (const target of ['/api/usage?detail=1', '/api/usage?detail=1&fields=memory']) {
      const payload = await read(target);
      t.equal(payload.interval_seconds, 2);
      t.type(payload.host, 'string');
      t.strictSame(payload.sensors, [
        { label: 'coretemp Package id 0', kind: 'temperature', value: 51.3, unit: '°C' },
        { label: 'nct6775 fan1', kind: 'fan', value: 1205, unit: 'RPM' },
      ]);
      t.strictSame(payload.batteries, [
        {
          name: 'BAT0',
          percent: 80,
          state: 'discharging',
          power_watts: 10,
          seconds_left: 14_400,
          health_percent: 87.7,
        },
      ]);
      t.strictSame(payload.drives, [
        {
          name: 'nvme0n1',
          model: 'ACME Fast 1TB',
          kind: 'nvme',
          health: {
            passed: true,
            percentage_used: 7,
            power_on_hours: 4321,
            temperature: 41,
            media_errors: 2,
          },
          reason: null,
        },
        { name: 'vda', model: null, kind: 'other', health: null, reason: 'a virtual drive has no health' },
      ]);
      t.match(payload.limits, { memory_bytes: 2 * GIB, memory_used_bytes: GIB / 2, cpus: 1.5 });
      t.ok(payload.limits && 'throttled_percent' in payload.limits);
    }
    const { batteries } = await read('/api/system?detail=1');
    t.equal(batteries?.length, 1, 'the same in /api/system');
    const plain = await read('/api/usage');
    for (const key of ['sensors', 'batteries', 'drives', 'limits', 'host']) t.notOk(key in plain, key);
  },
);

t.test('[3.detail-on] detail is on for 1 and true only; the rest changes nothing', async (t) => {
  for (const value of ['1', 'true', 'TRUE', '%31'])
    t.ok('cores' in (await read(`/api/usage?detail=${value}`)).cpu, value);
  for (const value of ['', '0', 'false', 'yes', '2', '11', '1,1'])
    t.notOk('cores' in (await read(`/api/usage?detail=${value}`)).cpu, value);
});

t.test(
  '[3.gpu-null] [4.gpu-null] [I.gpu] no GPU: null by default and in detail, absent only when filtered out',
  async (t) => {
    const bare = await serveHere(t, fixtureHost({ gpu: [] }));
    const of = async (target: string) => asPayload(jsonOf(await ask(bare.port, target)));
    t.equal((await of('/api/usage')).gpu, null);
    t.equal((await of('/api/usage?detail=1')).gpu, null);
    t.equal((await of('/api/usage?fields=gpu')).gpu, null);
    t.notOk('gpu' in (await of('/api/usage?fields=cpu')));
    t.equal((await of('/api/system')).gpu, null);
    const stream = await EventStream.openIn(t, bare.port);
    t.equal(payloadOf(await stream.next())['gpu'], null);
  },
);

t.test('[3.unknown] an unreadable value: 0 by default, null in detail', async (t) => {
  const cpu = { total: { user: 1, nice: 0, system: 1, idle: 1, iowait: 0, irq: 0, steal: 0 } };
  const blind = await serveHere(t, fixtureHost({ cpu: { ...cpu, temperatureCelsius: null, speedHz: null } }));
  const plain = asPayload(jsonOf(await ask(blind.port, '/api/usage?fields=cpu')));
  t.strictSame([plain.cpu.current_temp, plain.cpu.current_speed], [0, 0]);
  const detail = asPayload(jsonOf(await ask(blind.port, '/api/usage?fields=cpu&detail=1')));
  t.strictSame(
    [detail.cpu.current_temp, detail.cpu.current_speed, detail.cpu.temperature],
    [null, null, null],
  );
  t.equal(detail.cpu.power_watts, null);
});

t.test('[3.section-fails] a section that cannot be read breaks no other', async (t) => {
  const torn = await serveHere(t, fixtureHost({ memory: null, failures: { memory: 'ENOENT' } }));
  const payload = asPayload(jsonOf(await ask(torn.port, '/api/usage')));
  t.strictSame(keysOf(payload), ['timestamp', 'uptime', 'cpu', 'memory', 'gpu', 'disks', 'network']);
  t.equal(payload.cpu.current_speed, 3.4);
  t.match(torn.stderr(), /memory cannot be read: ENOENT/);
});

t.test(
  '[3.usage] usage takes the same fields and detail, with the same answers to unknown names',
  async (t) => {
    t.strictSame(keysOf(await read('/api/usage?fields=memory,cpu')), [
      'timestamp',
      'uptime',
      'cpu',
      'memory',
    ]);
    const answer = await ask(service.port, '/api/usage?fields=cpu,nope');
    t.strictSame(valuesOf(answer, 'x-ignored-fields'), ['nope']);
  },
);

t.test('[3.usage-age] the latest sample of the last 0.9 s, otherwise a fresh one', async (t) => {
  const host = fixtureHost();
  const { clock, port, withFirstLoad } = await startOnClock(t, host);
  const usage = () => ask(port, '/api/usage');
  const first = (await withFirstLoad(usage)).body.toString();
  const { reads } = host;
  await clock.advance(650);
  t.equal((await usage()).body.toString(), first, 'the same sample');
  t.equal(host.reads, reads, 'nothing was read for it');
  await clock.advance(150);
  await withFirstLoad(usage);
  t.ok(host.reads > reads, 'a second after the first request the machine is read again');
});

t.test('[3.first-load] a first load takes two readings 200 ms apart', async (t) => {
  const host = fixtureHost();
  const clock = new FakeClock();
  const service = await serveHere(t, host, {}, { clock });
  const before = clock.timers;
  const answer = ask(service.port, '/api/usage');
  while (clock.timers === before) await settle();
  t.equal(host.reads, 1);
  await clock.advance(FIRST_WINDOW_MS - 1);
  t.equal(host.reads, 1, 'not before');
  await clock.advance(1);
  t.equal(asPayload(jsonOf(await answer)).cpu.current_load, 30);
  t.equal(host.reads, 2);
});

t.test('[3.system] [I.others] exactly the documented keys', async (t) => {
  const payload = await read('/api/system');
  t.strictSame(payload, {
    hostname: 'fixture',
    platform: process.platform,
    os: { name: 'Linux', version: '12', build: '6.1', arch: 'x64' },
    cpu: { manufacturer: 'ACME', brand: 'Fixture CPU', cores: 8, physical_cores: 4, base_speed: 3.2 },
    gpu: { manufacturer: 'ACME', brand: 'Fixture', memory_total: 8192 },
    memory: { total: 16 * GIB, slots: 2 },
    disks: [
      { fs: '/', type: 'ext4', size: 100 * GIB, mount: '/' },
      { fs: '/never-answered', type: 'nfs4', size: null, mount: '/never-answered' },
    ],
    network: { name: 'eth0', mac: '02:00:00:00:00:01', ipv4: '192.0.2.1', ipv6: null },
  });
});

t.test('[3.system-detail] the keys that detail adds', async (t) => {
  const plain = keysOf(await read('/api/system'));
  const payload = await read('/api/system?detail=1');
  const added = ['gpus', 'interfaces', 'batteries', 'boot_time', 'service', 'capabilities'];
  t.strictSame(keysOf(payload), [...plain, ...added]);
  t.strictSame(keysOf(payload.interfaces?.[0]).slice(-2), ['wake_on_lan', 'wake_on_lan_reason']);
  t.strictSame(keysOf(payload.service), ['version', 'pid', 'started_at', 'node']);
  t.ok(Number.isInteger(payload.boot_time));
});
