/** The frame of a card, and the small parts in it. */
import { type ComponentChildren, createContext, Fragment, type JSX } from 'preact';
import { useContext, useId } from 'preact/hooks';
import { arrangement, fold, isArranging } from '../arrangement.ts';
import { isThen } from '../chosen.ts';
import { TEXTS } from '../texts.ts';
import { useValue } from '../value.ts';
import { type Level, levelOf, MARKS } from './level.ts';

interface CardProps {
  readonly title: string;
  /** Shown beside the title. */
  readonly note?: ComponentChildren;
  /** Two columns. */
  readonly size?: 'wide' | 'full';
  /** A button at the end of the title's line. */
  readonly action?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** The place of a card on the page. */
export interface Place {
  readonly key: string;
  readonly onMove: (by: 1 | -1) => void;
}

export const CardPlace = createContext<Place>({ key: '', onMove: () => undefined });

/** The id of a card's element: where the strip at the top leads to. */
export const cardId = (key: string): string => `card-${key}`;

function Movers({ title, onMove }: { readonly title: string; readonly onMove: Place['onMove'] }) {
  const act =
    (by: 1 | -1) =>
    ({ currentTarget }: Event) => {
      onMove(by);
      // A button that is moved in the document loses the focus.
      requestAnimationFrame(() => currentTarget instanceof HTMLElement && currentTarget.focus());
    };
  return (
    <div class="action">
      <button type="button" class="quiet" aria-label={TEXTS.cards.earlier(title)} onClick={act(-1)}>
        ←
      </button>
      <button type="button" class="quiet" aria-label={TEXTS.cards.later(title)} onClick={act(1)}>
        →
      </button>
    </div>
  );
}

export function Card({ title, note, size, action, children }: CardProps) {
  const id = useId();
  const { key, onMove } = useContext(CardPlace);
  const isFolded = useValue(arrangement).folded.includes(key);
  const isMovable = useValue(isArranging);
  const isWide = size !== undefined && !isFolded;
  return (
    <section
      id={cardId(key)}
      class={`card${isWide ? ' wide' : ''}${isFolded ? ' folded' : ''}`}
      aria-labelledby={id}
    >
      <header>
        <h2>
          <button type="button" id={id} class="fold" aria-expanded={!isFolded} onClick={() => fold(key)}>
            {title}
          </button>
        </h2>
        {note !== undefined && <p class="note">{note}</p>}
        {isMovable ? (
          <Movers title={title} onMove={onMove} />
        ) : (
          action !== undefined && !isFolded && <div class="action">{action}</div>
        )}
      </header>
      {!isFolded && children}
    </section>
  );
}

/** A text, or what stands for one that is not known. */
export type Note = string | null | undefined | false;

/** Shows short texts in one paragraph, each kept in one line if it fits; without those that are not known. */
export function Notes({ parts, isUnder }: { readonly parts: readonly Note[]; readonly isUnder?: boolean }) {
  const known = parts.filter((part) => typeof part === 'string');
  return (
    <p class={isUnder ? 'note under' : 'note'}>
      {known.map((part, i) => (
        <Fragment key={part}>
          <span class="part">{i + 1 < known.length ? `${part} ·` : part}</span>{' '}
        </Fragment>
      ))}
    </p>
  );
}

export type Fact = readonly [label: string, value: string, tooltip?: string];

/** Shows labels and values; an unknown value is shown as such. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl class="facts">
      {facts.map(([label, value, tooltip]) => (
        <div key={label} title={tooltip}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

interface FoldedProps {
  /** The text of the summary to tap. */
  readonly label: string;
  readonly children: readonly JSX.Element[];
}

/** Shows rows on request; nothing without rows. */
export function Folded({ label, children }: FoldedProps) {
  if (children.length === 0) return null;
  return (
    <details>
      <summary>{label}</summary>
      <ul class="rows">{children}</ul>
    </details>
  );
}

/** Browsers with Element Timing report its first paint. */
const TIMED = { elementtiming: 'value' };

/** The main value of the card. */
export function Headline({
  value,
  children,
}: {
  readonly value: string;
  readonly children?: ComponentChildren;
}) {
  return (
    <p class="headline">
      <strong {...TIMED}>{value}</strong>
      {useValue(isThen) && <small> {TEXTS.now}</small>} {children !== undefined && <span>{children}</span>}
    </p>
  );
}

export function Mark({ level }: { readonly level: Level }) {
  if (level === undefined) return null;
  return (
    <span class={`mark-${level}`} aria-hidden="true">
      {MARKS[level]}{' '}
    </span>
  );
}

interface BarProps {
  readonly label: string;
  /** 0–100; unknown is drawn empty. */
  readonly share: number | null;
  readonly words: string;
  /** Default: that of `share`. */
  readonly level?: Level | 'none';
}

export function Bar({ label, share, words, level = levelOf(share) }: BarProps) {
  const width = Math.min(100, Math.max(0, share ?? 0));
  return (
    // biome-ignore lint/a11y/useSemanticElements: browsers draw meter elements differently
    <div
      class={`bar ${level ?? ''}`}
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(width)}
      aria-valuetext={words}
    >
      <span style={{ width: `${width}%` }} />
    </div>
  );
}
