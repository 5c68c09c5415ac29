/** The service on a network of its own: announced by a real Avahi, seen by Avahi elsewhere. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import t, { type Test } from 'tap';
import { Avahi, browseWithAvahi, missingForAvahi } from '../../helpers/dbus/avahi.ts';
import { PrivateBus, until } from '../../helpers/dbus/bus.ts';
import { type LanHost, reasonAgainstLan, startLan } from '../../helpers/machine/lan.ts';
import {
  type ConfigPart,
  configText,
  type ServiceProcess,
  startService,
} from '../../helpers/service/service.ts';

const skip = reasonAgainstLan() || missingForAvahi();
const PROGRAM = path.resolve(import.meta.dirname, '../../../../../dist/main.js');

const configOf = (name: string, mdns = true, auth = false): ConfigPart => ({
  discovery: { mdns },
  host: { name },
  auth: auth ? { enabled: true, api_key: 'k'.repeat(32) } : { enabled: false },
});

/** Waits until a service's log has the text: Avahi elsewhere may see it before the service has heard that it stands. */
const logs = (service: ServiceProcess, text: string) =>
  until(`the log has ${text}`, () => service.stderr().includes(text));

interface Machine {
  readonly host: LanHost;
  readonly bus: PrivateBus;
  readonly avahi: Avahi;
  readonly serve: (config: ConfigPart, listensOn?: string) => Promise<ServiceProcess>;
}

async function startMachine(t: Test, host: LanHost): Promise<Machine> {
  const bus = await PrivateBus.start();
  t.teardown(() => bus.stop());
  const avahi = new Avahi(host, bus);
  const env = { DBUS_SYSTEM_BUS_ADDRESS: bus.address };
  const serve = async (config: ConfigPart, listensOn = '::') => {
    const service = await startService({ config, host: listensOn, env, start: host.start });
    t.teardown(() => service.stop('SIGKILL'));
    return service;
  };
  return { host, bus, avahi, serve };
}

const reload = (service: ServiceProcess, config: ConfigPart) => {
  writeFileSync(service.configFile, configText(config));
  process.kill(service.pid, 'SIGHUP');
};

t.setTimeout(240_000);
t.test('announced, renamed, withdrawn', { skip }, async (t) => {
  const [first, second] = startLan(t, 2);
  if (first === undefined || second === undefined) throw new Error('no machines');
  const desk = await startMachine(t, first);
  const sofa = await startMachine(t, second);
  await Promise.all([desk.avahi.start({ hostName: 'alpha' }), sofa.avahi.start({ hostName: 'beta' })]);

  const service = await desk.serve(configOf('desk'));
  const seenBy = async ({ host, bus }: Machine) =>
    (await browseWithAvahi(host, bus)).map(({ name, port }) => `${name}:${port}`).sort();
  const becomes = async (what: string, ...wanted: readonly string[]) => {
    let seen: readonly string[] = [];
    await until(what, async () => {
      seen = await seenBy(sofa);
      return JSON.stringify(seen) === JSON.stringify([...wanted].sort());
    }).catch(() => undefined);
    t.strictSame(seen, [...wanted].sort(), what);
  };

  await t.test('[3.mdns-announced] Avahi on another machine finds it with its texts', async (t) => {
    await becomes('announced', `desk:${service.port}`);
    await logs(service, `announced on the network as "desk", port ${service.port} (mDNS)`);
    const [seen] = await browseWithAvahi(sofa.host, sofa.bus);
    t.match(seen, { hostName: 'alpha.local', address: desk.host.address, port: service.port });
    const texts = Object.fromEntries(seen?.texts.map((text) => text.split('=', 2)) ?? []);
    t.match(texts, { txtvers: '1', path: '/', tls: '0', auth: '0', id: /^[0-9a-f]{16}$/, version: /^\d/ });
    t.equal(seen?.texts.length, 6);
  });

  const rival = await sofa.serve(configOf('desk'));
  await t.test('[3.mdns-collision] a name that is taken becomes another one', async () => {
    await becomes('both', `desk:${service.port}`, `desk #2:${rival.port}`);
    await logs(rival, 'announced on the network as "desk #2"');
    await rival.stop('SIGTERM');
    await becomes('withdrawn at the end', `desk:${service.port}`);
  });

  await t.test('[3.mdns-reload] withdrawn and announced at a reload', async () => {
    reload(service, configOf('desk', false));
    await becomes('off');
    reload(service, configOf('desk', true, true));
    await becomes('on', `desk:${service.port}`);
    const [seen] = await browseWithAvahi(sofa.host, sofa.bus);
    t.ok(seen?.texts.includes('auth=1'), 'a key is needed now');
  });

  await t.test('[3.mdns-restart] announced again when Avahi has been restarted', async () => {
    await desk.avahi.kill('SIGTERM');
    await until('noticed', () => service.stderr().includes('not announced on the network'));
    await logs(service, 'Avahi has ended');
    await becomes('gone');
    await desk.avahi.start({ hostName: 'alpha' });
    await becomes('back', `desk:${service.port}`);
  });

  await t.test('[3.mdns-restart] and when the bus has been, after a crash of both', async () => {
    await desk.bus.restart();
    await desk.avahi.kill();
    await desk.avahi.start({ hostName: 'gamma' });
    // A crash says no goodbye: until the new announcement the other machine may have the old one in its cache.
    await until('its new host name', async () => {
      const [seen] = await browseWithAvahi(sofa.host, sofa.bus);
      return seen?.hostName === 'gamma.local';
    });
    await becomes('back', `desk:${service.port}`);
  });

  await t.test('[3.mdns-crash] withdrawn when the service is killed', async () => {
    await service.stop('SIGKILL');
    await becomes('gone');
  });
});

t.test('not announced', { skip }, async (t) => {
  const [first] = startLan(t, 1);
  if (first === undefined) throw new Error('no machine');
  const desk = await startMachine(t, first);
  const linesOf = (service: ServiceProcess) =>
    service
      .stderr()
      .split('\n')
      .filter((line) => line.includes('discovery.mdns'));
  const doctor = async (mdns: boolean, listensOn = '::') => {
    const { run } = desk.host;
    const printed = await run(process.execPath, [PROGRAM, 'doctor', '--json', '--host', listensOn], {
      DBUS_SYSTEM_BUS_ADDRESS: desk.bus.address,
      HOSTWIRE_DISCOVERY_MDNS: String(mdns),
      HOSTWIRE_POWER_BACKEND: 'record',
    });
    return JSON.parse(printed).find(({ subject }: { subject: string }) => subject === 'mdns');
  };

  await t.test('[3.mdns-without-avahi] [9.doctor-mdns] without Avahi: one line, and a row', async (t) => {
    const service = await desk.serve(configOf('desk'));
    await until('the line', () => linesOf(service).length > 0);
    t.match(linesOf(service), [/not announced on the network .*: Avahi is not on the system bus/]);
    t.match(await doctor(true), { status: 'missing', remedy: /install avahi-daemon/ });
    t.match(await doctor(false), { status: 'works', source: /^off: / });
    t.equal(linesOf(service).length, 1);
    await service.stop();
  });

  await t.test('[3.mdns-loopback] [9.doctor-mdns] on loopback only: one line says why', async (t) => {
    await desk.avahi.start({ hostName: 'alpha' });
    const service = await desk.serve(configOf('desk'), '127.0.0.1');
    await until('the line', () => linesOf(service).length > 0);
    t.match(linesOf(service), [/not announced .*: the service listens only on 127\.0\.0\.1/]);
    t.match(await doctor(true, '127.0.0.1'), { status: 'partly', reason: /listens only on 127\.0\.0\.1/ });
    t.match(await doctor(true), { status: 'works', source: /^avahi / });
    t.strictSame(await browseWithAvahi(desk.host, desk.bus), []);
    await service.stop();
  });

  await t.test('[3.mdns-refused] Avahi that accepts nothing of its users is reported', async (t) => {
    await desk.avahi.kill();
    await desk.avahi.start({ hostName: 'alpha', publish: 'disable-user-service-publishing=yes' });
    const service = await desk.serve(configOf('desk'));
    await until('the line', () => linesOf(service).length > 0);
    t.match(linesOf(service), [/not announced .*: Avahi refuses: /]);
    await service.stop();
  });
});
