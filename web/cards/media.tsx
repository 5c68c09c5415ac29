/** The current track and its controls. */
import { useEffect, useState } from 'preact/hooks';
import type { MediaDetail } from '../../src/wire/media.ts';
import { useMay } from '../access.ts';
import { clock, percent } from '../format.ts';
import { Card } from '../parts/card.tsx';
import { Glyph } from '../parts/glyph.tsx';
import { NoticeLine, useActs } from '../parts/notice.tsx';
import { usePolled } from '../parts/poll.ts';
import { useReason } from '../reasons.ts';
import { getPicture, post } from '../requests.ts';
import { TEXTS } from '../texts.ts';
import { type CardRow, whyNot } from './row.ts';

const T = {
  title: 'Media',
  stopped: 'Nothing is playing',
  idle: 'A player is open but has no track',
  play: 'Play',
  pause: 'Pause',
  next: 'Next track',
  prev: 'Previous track',
  position: 'Position',
  volume: 'Volume',
  mute: 'Mute',
  unmute: 'Unmute',
  player: 'Player',
  anyPlayer: 'The one that plays',
  positionOf: (at: string, of: string) => `${at} of ${of}`,
  art: (title: string) => `Cover of ${title}`,
  notDelivered: 'No player accepted the command.',
} as const;

const EVERY_MS = 2000;
/** Players report the effect of a command a moment later. */
const CHANGE_MS = 200;

/** Returns the picture's address for this page. Other sites are never contacted: they would learn which track plays. */
function useArt({ art_url: artUrl, has_art: hasArt, title, player }: MediaDetail): string | undefined {
  const [source, show] = useState<string>();
  useEffect(() => {
    if (artUrl?.match(/^data:image\/(?:png|jpeg|gif|webp);base64,/)) {
      show(artUrl);
      return () => show(undefined);
    }
    if (!hasArt) return undefined;
    const ended = new AbortController();
    let made: string | undefined;
    const load = async () => {
      const query = player === null ? '' : `?${new URLSearchParams({ player })}`;
      const picture = await getPicture(`api/media/art${query}`, ended.signal);
      if (picture === undefined || ended.signal.aborted) return;
      made = URL.createObjectURL(picture);
      show(made);
    };
    // On an error the page shows no picture.
    load().catch(() => undefined);
    return () => {
      ended.abort();
      if (made !== undefined) URL.revokeObjectURL(made);
      show(undefined);
    };
  }, [artUrl, hasArt, title, player]);
  return source;
}

/** Returns the present position in the track: that of the last answer plus the time since. */
function usePosition({ position, playback, rate, duration }: MediaDetail): number | null {
  const [tick, setTick] = useState({ position, since: 0 });
  useEffect(() => {
    const begun = performance.now();
    setTick({ position, since: 0 });
    if (playback !== 'playing' || position === null) return undefined;
    const timer = setInterval(() => setTick({ position, since: (performance.now() - begun) / 1000 }), 1000);
    return () => clearInterval(timer);
  }, [position, playback]);
  if (tick.position === null) return null;
  const now = tick.position + tick.since * (rate ?? 1);
  return duration === null ? now : Math.min(now, duration);
}

interface SliderProps {
  readonly kind: 'position' | 'volume';
  readonly value: number;
  readonly max: number;
  readonly textOf: (value: number) => string;
  /** The text beside it. */
  readonly labelOf: (value: number) => string;
  readonly onChange: (value: number) => void;
}

/** Follows the value, except while it is dragged. */
function Slider({ kind, value, max, textOf, labelOf, onChange }: SliderProps) {
  const [dragged, drag] = useState<number>();
  const finish = (event: Event & { readonly currentTarget: HTMLInputElement }) => {
    onChange(Number(event.currentTarget.value));
    drag(undefined);
  };
  const at = dragged ?? value;
  return (
    <>
      <span>{labelOf(at)}</span>
      <input
        type="range"
        min={0}
        max={Math.floor(max)}
        step={1}
        value={Math.round(at)}
        aria-label={T[kind]}
        aria-valuetext={textOf(at)}
        onInput={(event) => drag(Number(event.currentTarget.value))}
        onChange={finish}
      />
    </>
  );
}

interface PartProps {
  readonly media: MediaDetail;
  /** undefined: the page may not control players. */
  readonly act: Act | undefined;
}

function Position({ media, act }: PartProps) {
  const position = usePosition(media);
  const { duration } = media;
  if (position === null || duration === null || duration <= 0) return null;
  const textOf = (at: number) => T.positionOf(clock(at), clock(duration));
  if (act === undefined) return <p class="note">{textOf(position)}</p>;
  return (
    <div class="position">
      <Slider
        kind="position"
        value={position}
        max={duration}
        textOf={textOf}
        labelOf={clock}
        onChange={(seconds) => act('seek', seconds)}
      />
      <span>{clock(duration)}</span>
    </div>
  );
}

/** Some players go beyond 100 %, which cannot be set. */
const MAX_VOLUME = 100;

function Volume({ media: { volume, muted }, act }: PartProps) {
  if (volume === null || act === undefined) return null;
  return (
    <div class="position volume">
      <Buttons act={act} of={[muted === true ? 'unmute' : 'mute']} />
      <Slider
        kind="volume"
        value={volume}
        max={Math.max(MAX_VOLUME, volume)}
        textOf={percent}
        labelOf={percent}
        onChange={(share) => act('set_volume', Math.min(MAX_VOLUME, share))}
      />
    </div>
  );
}

type Act = (action: string, value?: number) => void;
type Button = 'prev' | 'next' | 'play' | 'pause' | 'mute' | 'unmute';

const Buttons = ({ act, of }: { readonly act: Act; readonly of: readonly Button[] }) => (
  <>
    {of.map((action) => (
      <button
        type="button"
        key={action}
        class={action === 'play' || action === 'pause' ? 'round main' : 'round'}
        aria-label={T[action]}
        title={T[action]}
        onClick={() => act(action)}
      >
        <Glyph name={action} />
      </button>
    ))}
  </>
);

function Track({ media, act }: PartProps) {
  const art = useArt(media);
  return (
    <div class="track">
      <div class="art">
        {art === undefined ? <Glyph name="note" /> : <img src={art} alt={T.art(media.title)} />}
      </div>
      <div class="words">
        <p class="title">{media.title === '' ? T.idle : media.title}</p>
        <p class="by">
          {[media.artist, media.album].filter((text) => text !== null && text !== '').join(' — ')}
        </p>
        <p class="note">{media.player}</p>
      </div>
      <div class="controls">
        {act && <Buttons act={act} of={['prev', media.playback === 'playing' ? 'pause' : 'play', 'next']} />}
        <Position media={media} act={act} />
        <Volume media={media} act={act} />
      </div>
    </div>
  );
}

interface PlayersProps {
  readonly names: readonly string[];
  readonly chosen: string | undefined;
  readonly onChoose: (player: string | undefined) => void;
}

function Players({ names, chosen, onChoose }: PlayersProps) {
  // A player that has ended stays in the list until another is chosen.
  const all = [...new Set([...names, ...(chosen === undefined ? [] : [chosen])])];
  if (all.length < 2) return null;
  return (
    <label class="pick">
      {T.player}
      <select
        value={chosen ?? ''}
        onChange={({ currentTarget: { value } }) => onChoose(value === '' ? undefined : value)}
      >
        <option value="">{T.anyPlayer}</option>
        {all.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </label>
  );
}

function MediaCard() {
  const may = useMay();
  const [player, choose] = useState<string>();
  const query = new URLSearchParams({ detail: '1', ...(player !== undefined && { player }) });
  const path = may('read') ? `/api/media/status?${query}` : undefined;
  const { value: media, error, refresh } = usePolled<MediaDetail>(path, EVERY_MS);
  const acts = useActs();
  const reason = media === undefined ? error : undefined;
  useReason(T.title, reason);
  const act = (action: string, value?: number) =>
    void acts.run(async () => {
      // JSON leaves out what is undefined.
      const headers = await post('/api/media/control', { action, value, player });
      await new Promise((resolve) => setTimeout(resolve, CHANGE_MS));
      refresh();
      return headers.get('x-media-delivered') === 'false' ? T.notDelivered : undefined;
    });
  // A player that was chosen and has ended.
  useEffect(() => {
    if (reason !== undefined) choose(undefined);
  }, [reason]);
  if (reason !== undefined) return null;
  return (
    <Card title={T.title}>
      {path === undefined ? (
        <div class="controls">
          <Buttons act={act} of={['prev', 'play', 'pause', 'next']} />
        </div>
      ) : media === undefined || media.status === 'stopped' ? (
        <p class="empty">{media === undefined ? TEXTS.waiting : T.stopped}</p>
      ) : (
        <Track media={media} act={may('media') ? act : undefined} />
      )}
      {media !== undefined && <Players names={media.players} chosen={player} onChoose={choose} />}
      <NoticeLine of={acts} />
    </Card>
  );
}

export const MEDIA: CardRow = {
  Card: ({ system }) => {
    const media = system?.capabilities.media;
    return media?.enabled === true && media.supported ? <MediaCard /> : null;
  },
  Acts: () => (useMay()('media') ? <MediaCard /> : null),
  absences: (_sample, { capabilities }) => [[T.title, whyNot(capabilities.media, 'enable_media')]],
};
