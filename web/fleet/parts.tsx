/** Parts of both the table and the tiles: a link, a state, the line of the last minute, and the held order. */

import { useRef, useState } from 'preact/hooks';
import { celsius, duration, percent, rate, timeOfDay } from '../format.ts';
import { Glyph } from '../parts/glyph.tsx';
import { levelOf as fullLevelOf } from '../parts/level.ts';
import { sentenceOf } from '../requests.ts';
import { TEXTS } from '../texts.ts';
import { useValue } from '../value.ts';
import { arrange, type Choice, hold } from './choice.ts';
import { machines, show, turn } from './live.ts';
import type { Machine } from './machines.ts';
import { toggle } from './playing.ts';
import type { Figures } from './read.ts';
import { T } from './texts.ts';
import { TRAIL_HEIGHT, TRAIL_LENGTH } from './trail.ts';

export interface ListProps {
  readonly rows: readonly Machine[];
  readonly choice: Choice;
  readonly onChoose: (change: Partial<Choice>) => void;
}

/** Relative, because a proxy may serve the page under a path. */
export function HostLink({ machine: { id, name } }: { readonly machine: Machine }) {
  return (
    <a class="cut" href={`hosts/${id}/`} title={name === id ? undefined : id}>
      {name}
    </a>
  );
}

/** Returns a figure as text; until the first ones have arrived the load says so, and the others are empty. */
export const figureOf = (machine: Machine, name: Exclude<keyof Figures, 'receive' | 'send'>): string => {
  if (machine.isMeasuring) return name === 'load' ? T.measuring : '';
  const value = shownOf(machine)[name];
  if (name === 'uptime') return duration(value);
  return name === 'temperature' ? celsius(value) : percent(value);
};

/** Returns the present figures; of a machine that is not there the last ones. */
export const shownOf = ({ condition, figures, last }: Machine): Figures =>
  condition.state === 'up' ? figures : (last?.figures ?? figures);

export const trafficText = ({ isMeasuring, figures: { receive, send } }: Machine): string =>
  isMeasuring || receive === null ? '' : T.traffic(rate(receive), rate(send));

/** Returns the text that names the time of figures that are not present ones. */
export const asOfText = ({ condition, last }: Machine): string | undefined =>
  condition.state === 'up' || last === undefined ? undefined : T.asOf(sinceOf(last.asOf));

/** Returns the time of day, before today the date. */
export function sinceOf(unixSeconds: number): string {
  const at = new Date(1000 * unixSeconds);
  if (at.toDateString() === new Date().toDateString()) return timeOfDay(unixSeconds).slice(0, -3);
  return at.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' });
}

/** Shows the state and when it began, or the alarm of a machine that is up. */
export function State({ machine: { condition, alarm } }: { readonly machine: Machine }) {
  const { state, since } = condition;
  const began = state === 'up' ? alarm?.since : since;
  return (
    <span class="since">
      <span class={`mark ${state}${state === 'up' && alarm ? ` ${alarm.severity}` : ''}`}>
        {TEXTS.states[state]}
      </span>
      {began !== undefined && began > 0 && <small> {T.since(sinceOf(began))}</small>}
    </span>
  );
}

/** Returns why it is not up, otherwise its alarm, otherwise its labels. */
export const aboutOf = ({ condition, alarm, labels }: Machine): string =>
  condition.reason ?? alarm?.text ?? labels.join(', ');

/** Returns whether the page may pause what is played there. */
export const isPlayable = ({ played, mayPlay }: Machine): boolean => played !== undefined && mayPlay === true;

/** Shows what is played, with a button where the page may control it. */
export function Track({ machine }: { readonly machine: Machine }) {
  const { played, name } = machine;
  const [failure, setFailure] = useState<string>();
  if (played === undefined) return null;
  const words = failure ?? played.text;
  const act = () => {
    setFailure(undefined);
    toggle(machine).catch((error: unknown) => setFailure(sentenceOf(error)));
  };
  return (
    <>
      {isPlayable(machine) && (
        <button
          type="button"
          class="quiet"
          aria-label={played.isPlaying ? T.pause(name) : T.play(name)}
          onClick={act}
        >
          <Glyph name={played.isPlaying ? 'pause' : 'play'} />
        </button>
      )}
      <span class="cut" title={words}>
        {words}
      </span>
    </>
  );
}

export function Spark({ machine }: { readonly machine: Machine }) {
  return (
    <svg
      class="spark"
      viewBox={`0 0 ${TRAIL_LENGTH - 1} ${TRAIL_HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
      focusable="false"
    >
      <path d={machine.trail.path} />
    </svg>
  );
}

/** Returns the level of a share that is nearly full. */
export const levelOf = (share: number | null): string => fullLevelOf(share) ?? '';

const isOnMachine = (target: EventTarget | null) =>
  target instanceof Element && target.closest('[data-item]') !== null;

/** Returns the machines in the chosen order, and the handlers that the element needs for the order to be held. */
export function useOrder(choice: Choice) {
  useValue(turn);
  const shown = useRef<readonly Machine[]>([]);
  const chosen = useRef(choice);
  const held = useRef({ byPointer: false, byFocus: false });
  const arranged = arrange(machines.all, choice);
  const isHeld = chosen.current === choice && (held.current.byPointer || held.current.byFocus);
  shown.current = isHeld ? hold(shown.current, arranged, machines.all) : arranged;
  chosen.current = choice;
  // An element that is gone cannot be left.
  if (shown.current.length === 0) held.current = { byPointer: false, byFocus: false };
  const set = (by: 'byPointer' | 'byFocus', isOn: boolean) => {
    if (held.current[by] === isOn) return;
    held.current[by] = isOn;
    // Without a further event, the order would not be shown.
    if (!isOn) show();
  };
  const holders = {
    onPointerOver: ({ target }: Event) => set('byPointer', isOnMachine(target)),
    onPointerLeave: () => set('byPointer', false),
    onFocusIn: ({ target }: Event) => set('byFocus', isOnMachine(target)),
    onFocusOut: () => set('byFocus', false),
  };
  return { rows: shown.current, holders };
}
