/** The current track and its controls. */
import { useEffect, useState } from 'preact/hooks';
import type { MediaDetail } from '../../src/wire/media.ts';
import { useMay } from '../access.ts';
import { clock } from '../format.ts';
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
  positionOf: (at: string, of: string) => `${at} of ${of}`,
  art: (title: string) => `Cover of ${title}`,
  elsewhere: 'Other players: ',
  notDelivered: 'No player accepted the command.',
} as const;

const EVERY_MS = 2000;
/** Players report the effect of a command a moment later. */
const CHANGE_MS = 200;

/** Returns the picture's address for this page. Other sites are never contacted: they would learn which track plays. */
function useArt({ art_url: artUrl, has_art: hasArt, title }: MediaDetail): string | undefined {
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
      const picture = await getPicture('api/media/art', ended.signal);
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
  }, [artUrl, hasArt, title]);
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

function Position({
  media,
  onSeek,
}: {
  readonly media: MediaDetail;
  /** undefined: the page may not seek. */
  readonly onSeek: ((seconds: number) => void) | undefined;
}) {
  const position = usePosition(media);
  const [dragged, drag] = useState<number>();
  const { duration } = media;
  if (position === null || duration === null || duration <= 0) return null;
  if (onSeek === undefined) return <p class="note">{T.positionOf(clock(position), clock(duration))}</p>;
  const at = dragged ?? position;
  const finish = (event: Event & { readonly currentTarget: HTMLInputElement }) => {
    onSeek(Number(event.currentTarget.value));
    drag(undefined);
  };
  return (
    <div class="position">
      <span>{clock(at)}</span>
      <input
        type="range"
        min={0}
        max={Math.floor(duration)}
        step={1}
        value={Math.round(at)}
        aria-label={T.position}
        aria-valuetext={T.positionOf(clock(at), clock(duration))}
        style={{ '--part': `${(100 * at) / duration}%` }}
        onInput={(event) => drag(Number(event.currentTarget.value))}
        onChange={finish}
      />
      <span>{clock(duration)}</span>
    </div>
  );
}

type Act = (action: string, value?: number) => void;
type Button = 'prev' | 'next' | 'play' | 'pause';

const Buttons = ({ act, of }: { readonly act: Act; readonly of: readonly Button[] }) => (
  <>
    {of.map((action) => (
      <button
        type="button"
        key={action}
        class={action === 'prev' || action === 'next' ? 'round' : 'round main'}
        aria-label={T[action]}
        title={T[action]}
        onClick={() => act(action)}
      >
        <Glyph name={action} />
      </button>
    ))}
  </>
);

function Track({
  media,
  act,
}: {
  readonly media: MediaDetail;
  /** undefined: the page may not control players. */
  readonly act: Act | undefined;
}) {
  const art = useArt(media);
  return (
    <div class="track">
      <div class="art">
        {art === undefined ? <Glyph name="note" /> : <img src={art} alt={T.art(media.title)} />}
      </div>
      <div class="words">
        <p class="title">{media.title === '' ? T.idle : media.title}</p>
        <p>{[media.artist, media.album].filter((text) => text !== null && text !== '').join(' — ')}</p>
        <p class="note">{media.player}</p>
      </div>
      <div class="controls">
        {act && <Buttons act={act} of={['prev', media.playback === 'playing' ? 'pause' : 'play', 'next']} />}
        <Position media={media} onSeek={act && ((seconds) => act('seek', seconds))} />
      </div>
    </div>
  );
}

function MediaCard() {
  const may = useMay();
  const path = may('read') ? '/api/media/status?detail=1' : undefined;
  const { value: media, error, refresh } = usePolled<MediaDetail>(path, EVERY_MS);
  const acts = useActs();
  const reason = media === undefined ? error : undefined;
  useReason(T.title, reason);
  const act = (action: string, value?: number) =>
    void acts.run(async () => {
      const headers = await post('/api/media/control', value === undefined ? { action } : { action, value });
      await new Promise((resolve) => setTimeout(resolve, CHANGE_MS));
      refresh();
      return headers.get('x-media-delivered') === 'false' ? T.notDelivered : undefined;
    });
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
      <NoticeLine notice={acts.notice} onClear={acts.clear} />
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
