/** What the attacked services have in common: the program with its web guard or without, and a player. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Test } from 'tap';
import { FakePlayer, track } from '../../helpers/dbus/player.ts';
import { startSessionBus } from '../../helpers/dbus/session-bus.ts';
import { variant } from '../../helpers/dbus/wire.ts';
import { type ServiceProcess, serveProgram, type startService } from '../../helpers/service/service.ts';

const GUARD_OFF = fileURLToPath(new URL('./guard-off.js', import.meta.url));

/** Starts a service that ends with `t`. */
export async function startGuarded(
  t: Test,
  isGuarded: boolean,
  options: Parameters<typeof startService>[0],
): Promise<ServiceProcess> {
  return await serveProgram(t, {
    ...options,
    start: (command, args, how) => spawn(command, isGuarded ? args : ['--import', GUARD_OFF, ...args], how),
  });
}

/** A GIF of 7 by 3 whose one picture is a dot. */
const ART = '47494638396107000300800000000000ffffff2c00000000010001000002024401003b';
export const ART_SIZE = '7 x 3';

/** Starts the player `victim` with a cover, on a bus of its own; both end with `t`. */
export async function startVictimPlayer(
  t: Test,
  title: string,
): Promise<{ readonly player: FakePlayer; readonly bus: string }> {
  const bus = await startSessionBus();
  t.teardown(() => bus.stop());
  const art = path.join(bus.folder, 'art.gif');
  writeFileSync(art, Buffer.from(ART, 'hex'));
  const player = await FakePlayer.start(bus.address, 'victim', {
    PlaybackStatus: variant('s', 'Playing'),
    Metadata: track(title, { 'mpris:artUrl': variant('s', pathToFileURL(art).href) }),
  });
  t.teardown(() => player.close());
  return { player, bus: bus.address };
}
