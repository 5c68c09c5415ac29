import t from 'tap';
import { WebSocketServer } from 'ws';
import { listen } from '../../helpers/clients/listen.ts';
import { fixtureHost } from '../../helpers/fakes/host.ts';
import { serveHere } from '../../helpers/service/service.ts';
import { until } from '../../helpers/until.ts';
import { KEY, PlayedHub } from './setup.ts';

t.setTimeout(280_000);

t.test(
  '[I.hub.dial.pace] an agent slows a hub that floods it, and leaves one that breaks the protocol',
  async (t) => {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    const port = await listen(t, server);
    const hubs: PlayedHub[] = [];
    server.on('connection', (socket) => hubs.push(new PlayedHub(socket)));
    const agent = await serveHere(t, fixtureHost(), {
      hub: { url: `ws://127.0.0.1:${port}`, key_file: { path: 'k', secret: KEY } },
      host: { id: 'pc' },
    });
    const unproven = await until(() => hubs[0]);
    for (let i = 0; i < 100; i++) unproven.socket.ping();
    await unproven.end();
    const left = await until(() => /the server at this URL is not a hub/.exec(agent.stderr())?.[0]);
    t.ok(left, 'after pings before the proof');

    const hub = await until(() => hubs[1]);
    await hub.prove();
    await until(() => hub.on('status')[0]);
    const begunAtMs = performance.now();
    const question = {
      hub: 'hub1',
      client: '::1',
      key: null,
      what: 'clock',
      params: { pad: 'x'.repeat(400) },
    };
    for (let id = 0; id < 900; id++) hub.say('cmd/get', { ...question, id: `q${id}` });
    await until(() => hub.on('feedback/hub1').length === 900);
    const tookMs = performance.now() - begunAtMs;
    // 400 immediately and 200 per second, beside the rest of one read of 64 KiB.
    t.ok(tookMs > 1500, `900 after ${tookMs} ms`);
    t.equal(hub.closed, undefined, 'all are answered or refused, and the connection stays');

    for (let fragments = 0; fragments < 100; fragments++) hub.socket.send('x', { fin: false });
    await hub.end();
    await until(
      () => /lost connection to .* \(the connection failed: WS_ERR/.exec(agent.stderr()) ?? undefined,
    );
    t.pass('a message of many fragments');
  },
);
