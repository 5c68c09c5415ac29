/** Selects the player a request refers to and builds its status payload. Pure. */
import { MEDIA_VERBS, type MediaPlayer, type MediaSnapshot } from '../host/media.ts';
import type { MediaPayload } from '../wire/media.ts';
import { hasPicture, titleIn } from './media-addresses.ts';

/** playerctld only proxies other players, which are listed themselves. */
const PROXY = 'playerctld';

export const nameOf = (player: MediaPlayer): string => player.names.find((name) => name !== PROXY) ?? PROXY;

/** The end of a name under which a program may be there several times; it is another one after each start. */
const INSTANCE = /\.instance[-_\d]*$/;

/** `chromium.instance13325` is called `chromium`, unless there are several of it. */
export function withPlainNames(snapshot: MediaSnapshot): MediaSnapshot {
  const plainOf = (player: MediaPlayer) => nameOf(player).replace(INSTANCE, '');
  const all = snapshot.players.map(plainOf);
  const rename = (player: MediaPlayer, i: number): MediaPlayer => {
    const plain = all[i] ?? '';
    const isOnly = all.indexOf(plain) === all.lastIndexOf(plain);
    return isOnly && !player.names.includes(plain) ? { ...player, names: [plain, ...player.names] } : player;
  };
  return { ...snapshot, players: snapshot.players.map(rename) };
}

/** Every player but the proxy, by name. */
export function playersOf({ players }: MediaSnapshot): readonly MediaPlayer[] {
  return players
    .filter((player) => nameOf(player) !== PROXY)
    .toSorted((a, b) => compareText(nameOf(a), nameOf(b)));
}

// By code units: the order is the same wherever the service runs.
const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/**
 * The player that plays; otherwise the one that last played; otherwise the first by name. Of several that play the one
 * that began last. A player that does not answer is selected only when there is no other.
 */
export function selectPlayer(snapshot: MediaSnapshot): MediaPlayer | undefined {
  const rankOf = (player: MediaPlayer) => [
    player.isSilent ? 0 : 1,
    player.playback === 'playing' ? 1 : 0,
    player.lastPlayedMs ?? Number.NEGATIVE_INFINITY,
  ];
  let best: MediaPlayer | undefined;
  // In the order of names, so that of equals the first stays.
  for (const player of playersOf(snapshot))
    if (best === undefined || isAbove(rankOf(player), rankOf(best))) best = player;
  return best;
}

function isAbove(rank: readonly number[], other: readonly number[]): boolean {
  const at = rank.findIndex((value, i) => value !== other[i]);
  return at >= 0 && (rank[at] ?? 0) > (other[at] ?? 0);
}

/** The player with exactly this name. */
export function findPlayer(snapshot: MediaSnapshot, name: string): MediaPlayer | undefined {
  return playersOf(snapshot).find((player) => player.names.includes(name) && name !== PROXY);
}

/** `player`, unless it is stopped: the track that a stopped player still shows is not being played. */
export const currentOf = (player: MediaPlayer | undefined): MediaPlayer | undefined =>
  player?.playback === 'stopped' ? undefined : player;

/** `player`: undefined when there is no session. */
export function deriveMediaStatus(
  snapshot: MediaSnapshot,
  player: MediaPlayer | undefined,
  withDetail: boolean,
): MediaPayload {
  const title = player?.title || titleIn(player?.url ?? '');
  const artist = (player?.artists ?? []).filter((name) => name !== '').join(', ');
  const isActive = player !== undefined && player.playback !== 'stopped' && (title !== '' || artist !== '');
  const status = {
    status: player === undefined ? 'stopped' : isActive ? 'active' : 'idle',
    title: isActive ? title : '',
    artist: isActive ? artist : '',
  } as const;
  if (!withDetail) return status;
  const current = currentOf(player);
  return {
    ...status,
    playback: player?.playback ?? 'stopped',
    playing: player?.playback === 'playing',
    album: current?.album ?? null,
    position: rounded(current?.positionSeconds, 1000),
    duration: rounded(current?.durationSeconds, 1000),
    rate: player?.rate ?? null,
    shuffle: player?.shuffle ?? null,
    repeat: player?.repeat ?? null,
    volume: rounded(percentOf(player?.volume), 10),
    muted: player?.volume == null ? null : player.volume === 0,
    supports_ctrl: player !== undefined && MEDIA_VERBS.some((verb) => !player.cannot.includes(verb)),
    player: player === undefined ? null : nameOf(player),
    players: playersOf(snapshot).map(nameOf),
    art_url: current?.artUrl ?? null,
    has_art: current !== undefined && hasPicture(current),
  };
}

const percentOf = (volume: number | null | undefined) => (volume == null ? null : volume * 100);

const rounded = (value: number | null | undefined, steps: number) =>
  value == null ? null : Math.round(value * steps) / steps;
