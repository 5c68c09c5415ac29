/** The frame of a card, and the small parts in it. */
import { type ComponentChildren, Fragment, type JSX } from 'preact';
import { useId } from 'preact/hooks';
import { isThen } from '../chosen.ts';
import { TEXTS } from '../texts.ts';
import { useValue } from '../value.ts';

interface CardProps {
  readonly title: string;
  /** Shown beside the title. */
  readonly note?: ComponentChildren;
  readonly size?: 'wide' | 'full';
  /** A button at the end of the title's line. */
  readonly action?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function Card({ title, note, size, action, children }: CardProps) {
  const id = useId();
  return (
    <section class={size === undefined ? 'card' : `card ${size}`} aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {note !== undefined && <p class="note">{note}</p>}
        {action !== undefined && <div class="action">{action}</div>}
      </header>
      {children}
    </section>
  );
}

/** Shows short texts in one paragraph, each kept in one line if it fits. */
export function Notes({ parts, isUnder }: { readonly parts: readonly string[]; readonly isUnder?: boolean }) {
  return (
    <p class={isUnder ? 'note under' : 'note'}>
      {parts.map((part, i) => (
        <Fragment key={part}>
          <span class="part">{i + 1 < parts.length ? `${part} ·` : part}</span>{' '}
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

interface BarProps {
  readonly label: string;
  /** 0–100; unknown is drawn empty. */
  readonly share: number | null;
  readonly words: string;
}

export function Bar({ label, share, words }: BarProps) {
  const width = Math.min(100, Math.max(0, share ?? 0));
  const level = width >= 95 ? ' high' : width >= 85 ? ' raised' : '';
  return (
    // biome-ignore lint/a11y/useSemanticElements: browsers draw meter elements differently
    <div
      class={`bar${level}`}
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
