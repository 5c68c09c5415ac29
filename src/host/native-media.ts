/** The addon's players and media keys as the service uses them: changes told at a pace, keys pressed when heard. */
import { MEDIA_VERBS, type MediaHost, type MediaReply, type MediaSnapshot } from './media.ts';

/** What the addon's class `Media` does; see native/napi/media_binding.h. Verbs are places in MEDIA_VERBS. */
export interface NativeMedia {
  watch(): void;
  read(): MediaSnapshot;
  rearm(): boolean;
  control(id: string, verb: number, value: number, limitMs: number): Promise<MediaReply>;
  keyAbsence(): string | null;
  openKeys(): boolean;
  pressKey(verb: number): void;
}

/** A player may change thousands of times a second; nobody looks so often. */
const PACE_MS = 50;
/** What a desktop may need to find a new keyboard: a key pressed before is heard by nobody. */
const KEYBOARD_FOUND_MS = 300;

const delay = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms));

/** `create` is given what the addon calls when the players have changed. */
export function openMedia(create: (onNews: () => void) => NativeMedia): MediaHost {
  let listener: () => void = () => undefined;
  const tell = () => {
    listener();
    setTimeout(() => {
      if (media.rearm()) tell();
    }, PACE_MS).unref();
  };
  const media = create(tell);
  return {
    watch: () => media.watch(),
    readPlayers: () => media.read(),
    control: (id, verb, value, limitMs) => media.control(id, MEDIA_VERBS.indexOf(verb), value ?? 0, limitMs),
    onChange: (next) => {
      listener = next;
    },
    keyAbsence: () => media.keyAbsence(),
    async pressKey(key) {
      if (media.openKeys()) await delay(KEYBOARD_FOUND_MS);
      media.pressKey(MEDIA_VERBS.indexOf(key));
    },
  };
}
