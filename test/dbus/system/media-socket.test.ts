/** Media over a socket from a bus: what players report is pushed, not polled, and commands reach them. */
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { SocketClient } from '../../helpers/clients/socket.ts';
import { GOOD, startMediaRig } from '../../helpers/dbus/media-rig.ts';
import { track } from '../../helpers/dbus/player.ts';
import { variant } from '../../helpers/dbus/wire.ts';

const skip = !existsSync('/usr/bin/dbus-daemon') && 'apt-get install dbus';

t.setTimeout(280_000);

t.test(
  "[7.media-update] a player's reports are pushed, and the player is not asked for them",
  { skip },
  async (t) => {
    const rig = await startMediaRig(t);
    const player = await rig.player('good', GOOD);
    const client = await SocketClient.openIn(t, rig.service.process.port);
    client.say('subscribe', { topics: ['media'] }, 1);
    await client.take(({ type, data }) => type === 'media_update' && data['title'] === 'good');
    await sleep(300);
    let asked = 0;
    player.answer = (message) => {
      asked++;
      player.respond(message);
    };
    await sleep(1500);
    t.equal(asked, 0, 'silence on the bus');
    await client.settle();
    const begunMs = performance.now();
    for (let i = 0; i < 40; i++) {
      player.change({ Metadata: track(`t${i}`) });
      await sleep(10);
    }
    await client.take(({ data }) => data['title'] === 't39');
    const updates = client.told.filter(({ data }) => /^t\d+$/.test(String(data['title'])));
    const most = (performance.now() - begunMs) / 50 + 2;
    t.ok(updates.length <= most, `${updates.length} updates of 40 changes: one per 50 ms at most`);
    player.change({ PlaybackStatus: variant('s', 'Stopped') });
    t.match((await client.take(({ data }) => data['status'] === 'idle')).data, { title: '' });
    const answers = await client.askToEnd('media', { action: 'next' }, 'n');
    t.match(answers.at(-1)?.data, { success: true, stage: 'done' });
    t.strictSame(
      player.calls.map(({ member }) => member),
      ['Next'],
    );
    player.close();
    t.match((await client.take(({ data }) => data['status'] === 'stopped')).data, { artist: '' });
  },
);
