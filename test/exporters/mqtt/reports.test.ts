/** The order of what is published, with a broker and a clock that the test owns. */
import t from 'tap';
import { MISSED_UNTIL_GONE } from '#src/exporters/mqtt/discovery/document.js';
import { Reports } from '#src/exporters/mqtt/reports.js';
import { createLog } from '#src/log/log.js';
import type { Connection } from '#src/mqtt/connection.js';
import { Encoded } from '#src/stats/view.js';
import type { MediaDetail } from '#src/wire/media.js';
import { FakeClock } from '../../helpers/fakes/clock.ts';
import { FakeConfig } from '../../helpers/fakes/config.ts';
import { fixtureHost } from '../../helpers/fakes/host.ts';
import { FakeMediaHost } from '../../helpers/fakes/media.ts';
import type { Document } from './home-assistant.ts';
import { factsOf, MEDIA, POWER, payloadOf, TOPICS } from './machines.ts';

const { sample } = factsOf(payloadOf('laptop'));
const PACE_MS = 200;

class Rig {
  readonly clock = new FakeClock();
  readonly log: string[] = [];
  status: MediaDetail = { ...MEDIA, player: 'mpv', players: ['mpv'] };
  isReadable = true;
  /** The document that the broker keeps. */
  kept: string | undefined;
  /** The components of all documents. */
  readonly documents: Document['components'][] = [];
  /** Messages on the topics of the device and of media, since the last look. */
  #sent: { readonly topic: string; readonly text: string }[] = [];
  readonly #reports: Reports;

  constructor() {
    const deliver = async (topic: string, text: string) => {
      if (topic === TOPICS.discovery) this.documents.push((JSON.parse(text) as Document).components);
      return this.#sent.push({ topic, text }) > 0;
    };
    this.#reports = new Reports({
      id: 'pc-1',
      topics: TOPICS,
      intervalSeconds: 3600,
      urlOf: () => undefined,
      deliver,
      config: new FakeConfig(),
      events: { open: [] },
      host: { ...fixtureHost(), media: new FakeMediaHost() },
      facts: { version: '1.2.3' },
      sampler: {
        latest: async () => {
          if (!this.isReadable) throw new Error('no reading');
          return new Encoded(sample);
        },
      },
      media: { status: async () => this.status, art: async () => undefined },
      power: {
        status: async () => ({ pending: null, actions: POWER, inhibitors: [], recorded: [] }),
        capabilities: async () => POWER,
      },
      clock: this.clock,
      log: createLog((line) => this.log.push(line), 'info'),
    });
  }

  async begin(): Promise<void> {
    const connection = {
      isReady: true,
      send: async () => undefined,
      subscribe: async () => {
        if (this.kept !== undefined) this.#reports.takeRetained(this.kept);
        return [];
      },
      unsubscribe: async () => undefined,
    };
    // Nothing else of a connection is used here.
    this.#reports.begin(connection as unknown as Connection);
    // The time for the document that the broker keeps.
    await this.clock.advance(500);
  }

  async play(player: string | null, ...players: readonly string[]): Promise<void> {
    this.status = { ...this.status, player, players };
    this.#reports.mediaChanged();
    await this.clock.advance(PACE_MS);
  }

  end(): void {
    this.#reports.end();
  }

  /** The messages: the players that a document lists, or the one that a state names. */
  look(): readonly unknown[] {
    return this.#sent.splice(0).flatMap(({ topic, text }): readonly unknown[] => {
      if (topic === TOPICS.media) return [{ state: (JSON.parse(text) as { player: unknown }).player }];
      if (topic !== TOPICS.discovery) return [];
      const { components } = JSON.parse(text) as Document;
      return [{ options: components['media_select_player']?.['options'] }];
    });
  }
}

t.test('[3.ha-players] a document that lists a player goes out before a state that names it', async (t) => {
  const rig = new Rig();
  t.teardown(() => rig.end());
  await rig.begin();
  t.strictSame(rig.look(), [{ options: ['mpv'] }, { state: 'mpv' }]);
  await rig.play('vlc', 'mpv', 'vlc');
  t.strictSame(rig.look(), [{ options: ['mpv', 'vlc'] }, { state: 'vlc' }]);
  await rig.play('mpv', 'mpv', 'vlc');
  t.strictSame(rig.look(), [{ state: 'mpv' }], 'the players are the same');
  await rig.play('chromium', 'chromium');
  t.strictSame(rig.look(), [{ options: ['chromium'] }, { state: 'chromium' }]);
  await rig.play(null);
  t.strictSame(rig.look(), [{ options: [] }, { state: null }], 'none');
  rig.end();
  rig.status = { ...rig.status, player: 'vlc', players: ['vlc'] };
  await rig.begin();
  t.strictSame(rig.look(), [{ options: ['vlc'] }, { state: 'vlc' }], 'on the next connection too');
  t.strictSame(rig.log, []);
});

t.test('[3.ha-players] no state before the first document', async (t) => {
  const rig = new Rig();
  t.teardown(() => rig.end());
  rig.isReadable = false;
  await rig.begin();
  await rig.play('vlc', 'vlc');
  t.strictSame(rig.look(), []);
  rig.isReadable = true;
  await rig.clock.advance(3600_000);
  t.strictSame(rig.look(), [{ options: ['vlc'] }, { state: 'vlc' }]);
});

t.test('a machine that cannot be read is logged once, until it can be read again', async (t) => {
  const rig = new Rig();
  t.teardown(() => rig.end());
  const failures = () =>
    rig.log.splice(0).filter((line) => line.includes('mqtt: cannot read the machine: no reading')).length;
  rig.isReadable = false;
  await rig.begin();
  t.equal(failures(), 1);
  await rig.clock.advance(3600_000);
  t.equal(failures(), 0, 'the same reason');
  rig.isReadable = true;
  await rig.clock.advance(3600_000);
  rig.isReadable = false;
  await rig.clock.advance(3600_000);
  t.equal(failures(), 1, 'after a reading');
  rig.end();
  await rig.clock.advance(3600_000);
  t.equal(failures(), 0, 'not without a connection');
});

t.test('[3.ha-removal] what an earlier start announced, and is gone, is removed', async (t) => {
  const rig = new Rig();
  t.teardown(() => rig.end());
  const components = { sensor_gone: { platform: 'sensor', unique_id: 'pc-1_sensor_gone' } };
  rig.kept = JSON.stringify({ components });
  await rig.begin();
  for (let reading = 1; reading < MISSED_UNTIL_GONE; reading++) await rig.clock.advance(3600_000);
  const found = rig.documents.flatMap(({ sensor_gone }) => (sensor_gone === undefined ? [] : [sensor_gone]));
  t.strictSame(found, [{ platform: 'sensor' }], 'once');
  t.strictSame(rig.log, []);
});
