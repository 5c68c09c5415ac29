/** The media status answers from memory, no matter what players do at the same time. */
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { startCrowd } from '../../helpers/dbus/crowd.ts';
import { GOOD, type MediaRig, startMediaRig } from '../../helpers/dbus/media-rig.ts';
import { track } from '../../helpers/dbus/player.ts';
import { checkStatusTimes } from '../status-times.ts';

const skip = !existsSync('/usr/bin/dbus-daemon') && 'apt-get install dbus';

t.setTimeout(280_000);

/** Disturbances while the status is requested. */
const MISCHIEF: readonly { readonly what: string; readonly act: (rig: MediaRig) => Promise<void> }[] = [
  {
    what: 'while a mute player is waited for',
    async act({ service, player }) {
      const mute = await player('mute');
      mute.answer = () => undefined;
      await service.until(({ players }) => players.includes('mute'));
      await service.control('play', { player: 'mute' });
      mute.close();
    },
  },
  {
    what: 'during metadata of 5 MB',
    async act({ service, player }) {
      const big = await player('big', GOOD);
      await service.until(({ players }) => players.includes('big'));
      const long = 'x'.repeat(5_000_000);
      for (let i = 0; i < 5; i++) {
        big.change({ Metadata: track(`${i}${long}`) });
        await sleep(100);
      }
      big.close();
      await service.until(({ players }) => !players.includes('big'));
    },
  },
  {
    what: 'while 10,000 names come and go',
    async act({ bus, service }) {
      const names = Array.from({ length: 10_000 }, (_, i) => `org.mpris.MediaPlayer2.zzz.n${i}`);
      await startCrowd(bus.address, names).leave();
      await service.until(({ players }) => players.length === 1, {});
    },
  },
  {
    what: 'during a flood of 5,000 changes a second',
    async act({ player }) {
      const flood = await player('flood', GOOD);
      for (let i = 0; i < 200; i++) {
        for (let k = 0; k < 50; k++) flood.change({ Metadata: track(`t${i}.${k}`) });
        await sleep(10);
      }
      flood.close();
    },
  },
];

for (const { what, act } of MISCHIEF)
  t.test(`[6.slow-player] the status answers from memory ${what}`, { skip }, async (t) => {
    const rig = await startMediaRig(t);
    await rig.player('good', GOOD);
    await rig.service.until(({ title }) => title === 'good');
    await checkStatusTimes(t, what, rig.service.process.port, () => act(rig));
  });
