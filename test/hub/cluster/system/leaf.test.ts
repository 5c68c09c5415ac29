/** The server of a site (packaging/mqtt/nats-leaf.conf): its machines are at the centre. */
import t from 'tap';
import { NO_NATS, startBeside } from '../../../exporters/mqtt/broker.ts';
import { ask } from '../../../helpers/clients/http.ts';
import { isDown, isUp, watch } from '../../setup.ts';
import { NO_HAPROXY, startCentre } from '../proxy.ts';
import { agentPart, startClusterHub, startLeaf } from '../setup.ts';

t.setTimeout(280_000);

const post = (body: object) => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(body),
});

t.test(
  '[I.hub.leaf] a machine of a site, at the hub of the centre',
  { skip: NO_NATS || NO_HAPROXY },
  async (t) => {
    const { authority, ca, servers, proxy } = await startCentre(t);
    const [, second] = servers;
    if (second === undefined) throw new Error('three servers');
    const early = await startClusterHub(t, second.broker.port, 'hub1', ca);
    const leaf = await startLeaf(t, authority, proxy.leafPort);
    const { media, service } = await startBeside(t, {
      mqtt: agentPart(leaf.port, 'pc', ca),
      stats: { stream_interval_seconds: 1 },
      features: { enable_process_control: true },
    });
    const stream = await watch(early, 'pc', '?fields=cpu');
    await stream.next();
    await stream.next();
    // Retained messages are in the centre's JetStream: without `js_domain` a later hub would not see the machine.
    const late = await startClusterHub(t, second.broker.port, 'hub2', ca, {
      commandMs: 2000,
      answerMs: 2000,
    });
    await late.host('pc', isUp);
    t.equal((await ask(late.port, '/api/hosts/pc/media/control', post({ action: 'mute' }))).status, 200);
    t.equal(media.controls.length, 1);
    // Not among hub.scopes of the machine, whatever its flags are.
    const kill = await ask(late.port, '/api/hosts/pc/processes/kill', post({ pid: 999_999_999 }));
    t.equal(kill.status, 403);
    await service.stop();
    for (const hub of [early, late]) t.ok(isDown(await hub.host('pc', isDown)), 'and of its end');
  },
);
