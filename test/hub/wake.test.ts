/** A machine that is not up is woken by another one of the hub that has it in `wake.hosts`. */
import dgram from 'node:dgram';
import { once } from 'node:events';
import t from 'tap';
import { magicPacket, parseMac } from '#src/wake/packet.js';
import type { HostRow } from '#src/wire/hub.js';
import { ask, jsonOf } from '../helpers/clients/http.ts';
import { until } from '../helpers/until.ts';
import { startCommanded } from './commanded.ts';
import { isUp, startHub } from './setup.ts';

const MAC = '02:00:5e:10:ab:cd';
const NOWHERE = 'http://127.0.0.1:1';

t.test('[I.hub.wake] another machine wakes it, by its id or its name', async (t) => {
  const card = dgram.createSocket('udp4');
  t.teardown(() => card.close());
  const packets: Buffer[] = [];
  card.on('message', (packet) => packets.push(packet));
  card.bind(0, '127.0.0.1');
  await once(card, 'listening');
  const entry = { mac: MAC, broadcast: '127.0.0.1', port: card.address().port };
  const desk = await startCommanded(t, { wake: { hosts: { nas: entry, television: entry } } });
  const agents = {
    desk: { url: desk.service.baseUrl },
    nas: { url: NOWHERE },
    tv: { url: NOWHERE, name: 'television' },
    pc: { url: NOWHERE },
  };
  const commands = { all: { commands: ['wake.*'], labels: {}, hosts: ['desk', 'nas', 'tv', 'pc'] } };
  const hub = await startHub(t, agents, { hub: { commands } }, {}, undefined, 10);
  await hub.host('desk', isUp);
  const isKnown = ({ wake_by: by }: HostRow) => by !== undefined;
  for (const id of ['nas', 'tv']) t.strictSame((await hub.host(id, isKnown)).wake_by, ['desk']);
  t.notOk(isKnown(await hub.host('pc')));
  t.notOk(isKnown(await hub.host('desk')));
  const wake = async (id: string) =>
    await ask(hub.port, `/api/hosts/${id}/wake`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{}',
    });
  const mac = parseMac(MAC);
  for (const [id, name] of [
    ['nas', 'nas'],
    ['television', 'television'],
  ] as const) {
    packets.length = 0;
    t.match(jsonOf(await wake(id)), { by: 'desk', success: true, name, mac });
    await until(() => packets.length >= 3);
    t.ok(packets[0]?.equals(magicPacket(mac ?? '')));
  }
  const refused = await wake('pc');
  t.equal(refused.status, 503);
  t.match(jsonOf(refused), { code: 'host_unreachable', details: { reason: /in wake\.hosts$/ } });
  t.match(jsonOf(await wake('desk')), { code: 'missing_field' }, 'one that is up wakes others');
  t.match(
    hub.log.filter((line) => line.includes('wake: wake done')),
    [/host=nas .*by=desk/, /host=tv .*by=desk/],
  );
  t.equal(desk.audit().filter((line) => line.includes('wake: wake done')).length, 2);
  hub.reconfigure(agents, { hub: { commands: { all: { ...commands.all, hosts: ['desk', 'tv'] } } } });
  t.match((await wake('nas')).status, 403, 'the rules are those of the machine that is woken');
  t.equal((await wake('tv')).status, 200);
});
