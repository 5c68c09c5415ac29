/** The program and fake players on a private bus. */
import type { Test } from 'tap';
import { MediaService } from '../service/media.ts';
import { FakePlayer, type Properties, track } from './player.ts';
import { type SessionBus, startSessionBus } from './session-bus.ts';
import { variant } from './wire.ts';

export const PLAYING = variant('s', 'Playing');
/** The properties of a well-behaved player. */
export const GOOD: Properties = {
  PlaybackStatus: PLAYING,
  Metadata: track('good'),
  Volume: variant('d', 0.5),
};

export interface MediaRig {
  readonly bus: SessionBus;
  readonly service: MediaService;
  readonly player: (name: string, properties?: Properties) => Promise<FakePlayer>;
}

/** Everything ends with the test. */
export async function startMediaRig(t: Test): Promise<MediaRig> {
  const bus = await startSessionBus();
  t.teardown(() => bus.stop());
  const service = await MediaService.start(bus.env);
  t.teardown(() => service.stop());
  return {
    bus,
    service,
    async player(name, properties = {}) {
      const player = await FakePlayer.start(bus.address, name, properties);
      t.teardown(() => player.close());
      return player;
    },
  };
}
