/** Fake players: no bus, no sound. */
import { readFileSync, statSync } from 'node:fs';
import type {
  MediaHost,
  MediaKey,
  MediaPlayer,
  MediaReply,
  MediaSnapshot,
  MediaVerb,
} from '#src/host/media.js';

const SILENCE: MediaPlayer = {
  id: ':1.1',
  names: ['player'],
  isSilent: false,
  playback: 'stopped',
  title: '',
  artists: [],
  album: null,
  artUrl: null,
  isArtLong: false,
  url: null,
  durationSeconds: null,
  positionSeconds: null,
  rate: null,
  shuffle: null,
  repeat: null,
  volume: null,
  lastPlayedMs: null,
  cannot: [],
};

/** A player named `name` that has reported only `part`. */
export function playerOf(name: string, part: Partial<MediaPlayer> = {}): MediaPlayer {
  return { ...SILENCE, id: `:1.${name}`, names: [name], ...part };
}

export function snapshotOf(...players: readonly MediaPlayer[]): MediaSnapshot {
  return { absence: null, isSettled: true, players, leftOut: 0 };
}

export interface FakeControl {
  readonly id: string;
  readonly verb: MediaVerb;
  readonly value: number | undefined;
  readonly limitMs: number;
}

export class FakeMediaHost implements MediaHost {
  snapshot: MediaSnapshot = snapshotOf();
  reply: MediaReply = { outcome: 'done' };
  /** While true, a control command lasts until the test calls `finish`. */
  isSlow = false;
  finish: () => void = () => undefined;
  /** Whether players report a new volume, and have it. */
  reportsVolume = true;
  keys: string | null = 'there are no keys here';
  keyFailure: Error | undefined;
  watched = 0;
  readonly controls: FakeControl[] = [];
  readonly pressed: MediaKey[] = [];
  /** The files that were read. */
  readonly artReads: { readonly id: string; readonly file: string }[] = [];
  #listener: () => void = () => undefined;

  watch(): void {
    this.watched++;
  }

  readPlayers(): MediaSnapshot {
    return this.snapshot;
  }

  async control(id: string, verb: MediaVerb, value: number | undefined, limitMs: number) {
    this.controls.push({ id, verb, value, limitMs });
    if (this.isSlow)
      await new Promise<void>((resolve) => {
        this.finish = resolve;
      });
    if (verb === 'set_volume' && value !== undefined && this.reply.outcome === 'done' && this.reportsVolume) {
      const players = this.snapshot.players.map((each) =>
        each.id === id ? { ...each, volume: value } : each,
      );
      this.change({ ...this.snapshot, players });
    }
    return this.reply;
  }

  /** Real files, with the rights of the test. */
  async readArt(id: string, file: string, maxBytes: number): Promise<Buffer> {
    this.artReads.push({ id, file });
    const { size } = statSync(file);
    if (!statSync(file).isFile() || size > maxBytes) throw new Error('not a file of this size');
    return readFileSync(file);
  }

  /** Addresses that are too long to be reported. */
  artUrl: string | null = null;

  async askArtUrl(_id: string, maxBytes: number, _limitMs: number): Promise<string | null> {
    return this.artUrl === null || this.artUrl.length > maxBytes ? null : this.artUrl;
  }

  onChange(listener: () => void): void {
    this.#listener = listener;
  }

  keyAbsence(): string | null {
    return this.keys;
  }

  async pressKey(key: MediaKey): Promise<void> {
    if (this.keyFailure !== undefined) throw this.keyFailure;
    this.pressed.push(key);
  }

  /** Changes the players and notifies the service. */
  change(snapshot: MediaSnapshot): void {
    this.snapshot = snapshot;
    this.#listener();
  }
}
