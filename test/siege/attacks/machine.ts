/** Attacks from within the machine: players on the session bus, names of processes, files of the kernel. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { requestBytes } from '../../helpers/clients/http.ts';
import { oddSteps, sendOddSignals } from '../../helpers/dbus/odd-values.ts';
import { DbusPeer } from '../../helpers/dbus/peer.ts';
import { FakePlayer, type Properties, track } from '../../helpers/dbus/player.ts';
import { variant } from '../../helpers/dbus/wire.ts';
import { below, mutantOf, pick, type Random } from '../../http/mutate.ts';
import { frameBytes, OPCODES } from '../../http/socket-frames.ts';
import { startScript } from '../scripts.ts';
import { type Attack, atRate, send, type Target } from '../target.ts';

const MAX_NAME = 255 - 'org.mpris.MediaPlayer2.'.length;
const PLAYING: Properties = { PlaybackStatus: variant('s', 'Playing') };
const PATHS = ['/api/media/status', '/api/media/status?detail=1', '/api/media/art'];

async function startPlayer(
  target: Target,
  name: string,
  properties: Properties = PLAYING,
): Promise<FakePlayer> {
  const player = await FakePlayer.start(target.bus, name, properties);
  target.keep(() => player.close());
  return player;
}

/** Asks about players, so that the service has to look at them. */
async function askAbout(target: Target, random: Random): Promise<void> {
  const socket = await target.connect();
  socket.resume();
  send(socket, requestBytes(pick(PATHS, random) ?? '/', { headers: { Connection: 'close' } }));
}

/** Follows the players over a WebSocket. */
async function follow(target: Target): Promise<void> {
  const payload = Buffer.from('{"op":"subscribe","data":{"topics":["media"]}}');
  send(await target.upgrade(), frameBytes({ opcode: OPCODES.text, payload }));
}

/** `act` is called at a rate, among questions about players. */
function amongPlayers(
  name: string,
  unit: string,
  perSecond: number,
  start: (target: Target, random: Random) => Promise<() => unknown>,
): Attack {
  return {
    name,
    unit,
    needs: 'bus',
    run: async (target, random, signal) => {
      await follow(target);
      const act = await start(target, random);
      const asking = atRate(5, signal, () => askAbout(target, random));
      await atRate(perSecond, signal, async () => {
        await act();
        target.count();
      });
      await asking;
    },
  };
}

/** Values of mpris:artUrl. None is a picture of this machine. */
const PICTURES = [
  '/dev/zero',
  '/dev/tty',
  '/proc/self/mem',
  '/proc/kmsg',
  '/',
  '/nowhere',
  `/${'x'.repeat(5000)}`,
];

const PLAYERS: readonly Attack[] = [
  amongPlayers('players with names of maximal length', 'players', 20, async (target, random) => () => {
    const name = `x${String(below(1e9, random)).repeat(30)}`.padEnd(MAX_NAME, 'x').slice(0, MAX_NAME);
    return target.size < 60 ? startPlayer(target, name) : undefined;
  }),
  amongPlayers('tracks with titles of 1 MiB', 'signals', 4, async (target, random) => {
    const player = await startPlayer(target, 'long');
    return () => player.change({ Metadata: track(`${below(1e9, random)}${'x'.repeat(1 << 20)}`) });
  }),
  amongPlayers('signals of players in storms', 'storms of 100', 10, async (target, random) => {
    const player = await startPlayer(target, 'storm');
    return () => {
      for (let i = 0; i < 100; i++) player.change({ Volume: variant('d', random()) });
    };
  }),
  amongPlayers('players that come and go', 'players', 100, async (target, random) => async () => {
    const peer = await DbusPeer.open(target.bus);
    await peer.requestName(`org.mpris.MediaPlayer2.brief${below(1e9, random)}`);
    peer.close();
  }),
  amongPlayers('players that never answer', 'players', 10, async (target, random) => async () => {
    if (target.size > 60) return;
    const player = await startPlayer(target, `silent${below(1e9, random)}`);
    player.answer = () => undefined;
  }),
  amongPlayers('players with values of wrong types', 'signals', 200, async (target) => {
    const player = await startPlayer(target, 'odd');
    let steps = oddSteps(player);
    return () => {
      if (!steps.next().done) return;
      sendOddSignals(player);
      steps = oddSteps(player);
    };
  }),
  amongPlayers('covers that are devices, folders and nothing', 'tracks', 20, async (target, random) => {
    const player = await startPlayer(target, 'art');
    return () => {
      const url = `file://${pick(PICTURES, random)}`;
      player.change({ Metadata: track('art', { 'mpris:artUrl': variant('s', url) }) });
    };
  }),
];

const PROCESSES: Attack = {
  name: 'processes with odd names',
  unit: 'processes',
  isForService: true,
  seconds: 8,
  run: async (target, random, signal) => {
    await startScript(target, 'processes.py', ['300']);
    target.count(300);
    await atRate(2, signal, async () => {
      const socket = await target.connect();
      socket.resume();
      const query = pick(['grouped=false', 'query=%3Cscript', 'sort=name'], random);
      send(socket, requestBytes(`/api/processes?${query}`, { headers: { Connection: 'close' } }));
    });
  },
};

const MAX_TEXT = 200_000;

function mutate(original: Buffer, random: Random): Buffer {
  const chance = random();
  if (chance < 0.1) return Buffer.alloc(0);
  if (chance < 0.2) return Buffer.alloc(below(MAX_TEXT, random), original);
  if (chance > 0.5) return mutantOf(original, random);
  const numbers = ['-1', '0', '18446744073709551616', '9'.repeat(400), '1e308', 'nan', ''];
  const text = original.toString('latin1');
  return Buffer.from(
    text.replaceAll(/\d+/g, (number) => (random() < 0.1 ? (pick(numbers, random) ?? '') : number)),
    'latin1',
  );
}

const FILES: Attack = {
  name: 'mutated files of the kernel',
  unit: 'files',
  needs: 'tree',
  run: async (target, random, signal) => {
    const root = target.place.tree ?? '';
    const files = readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name));
    const originals = new Map<string, Buffer>();
    target.keep(() => {
      for (const [file, bytes] of originals) writeFileSync(file, bytes);
    });
    await atRate(100, signal, () => {
      const file = pick(files, random) ?? '';
      const original = originals.get(file) ?? readFileSync(file);
      originals.set(file, original);
      // In place: a kernel file keeps its inode.
      writeFileSync(file, random() < 0.3 ? original : mutate(original, random));
      target.count();
    });
  },
};

export const MACHINE: readonly Attack[] = [...PLAYERS, PROCESSES, FILES];
