/** Wraps the addon's media: rate-limits change events, and delays key presses until a new keyboard is picked up. */
import type { Describer, Finding } from './finding.ts';
import { MEDIA_VERBS, type MediaHost, type MediaReply, type MediaSnapshot } from './media.ts';

/** The addon's class `Media`; see native/napi/media_binding.h. Verbs are indexes into MEDIA_VERBS. */
export interface NativeMedia {
  watch(): void;
  read(): MediaSnapshot;
  rearm(): boolean;
  control(id: string, verb: number, value: number, limitMs: number): Promise<MediaReply>;
  readArt(id: string, path: string, maxBytes: number): Promise<Buffer>;
  askArtUrl(id: string, maxBytes: number, limitMs: number): Promise<string | null>;
  keyAbsence(): string | null;
  describe(): readonly Finding[];
  openKeys(): boolean;
  pressKey(verb: number): void;
}

/** Minimum time between two change events: a player may change thousands of times per second. */
const CHANGE_INTERVAL_MS = 50;
/** Time that a desktop may need to pick up a new keyboard; a key pressed earlier has no effect. */
const KEYBOARD_PICKUP_MS = 300;

/** Maximum time that the first answers of all players are waited for. */
const SETTLE_LIMIT_MS = 1100;
const SETTLE_STEP_MS = 20;

const delay = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms));

/** `create` receives the function that the addon calls when the players have changed. */
export function openMedia(create: (onChanged: () => void) => NativeMedia): MediaHost & Describer {
  let listener: () => void = () => undefined;
  const notify = () => {
    listener();
    setTimeout(() => {
      if (media.rearm()) notify();
    }, CHANGE_INTERVAL_MS).unref();
  };
  const media = create(notify);
  return {
    watch: () => media.watch(),
    readPlayers: () => media.read(),
    control: (id, verb, value, limitMs) => media.control(id, MEDIA_VERBS.indexOf(verb), value ?? 0, limitMs),
    readArt: (id, path, maxBytes) => media.readArt(id, path, maxBytes),
    askArtUrl: (id, maxBytes, limitMs) => media.askArtUrl(id, maxBytes, limitMs),
    onChange: (next) => {
      listener = next;
    },
    keyAbsence: () => media.keyAbsence(),
    async describe() {
      media.watch();
      for (
        let waitedMs = 0;
        waitedMs < SETTLE_LIMIT_MS && !media.read().isSettled;
        waitedMs += SETTLE_STEP_MS
      )
        await delay(SETTLE_STEP_MS);
      return media.describe();
    },
    async pressKey(key) {
      if (media.openKeys()) await delay(KEYBOARD_PICKUP_MS);
      media.pressKey(MEDIA_VERBS.indexOf(key));
    },
  };
}
