/** Parts of both the table and the tiles: a link, a state, the line of the last minute, and the held order. */
import { useRef } from 'preact/hooks';
import type { HostState } from '../../src/wire/hub.ts';
import { useMay } from '../access.ts';
import { celsius, percent } from '../format.ts';
import { useActs } from '../parts/notice.tsx';
import { post } from '../requests.ts';
import { useValue } from '../value.ts';
import { arrange, type Choice, hold } from './choice.ts';
import { machines, show, turn } from './live.ts';
import type { Machine } from './machines.ts';
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
    <a href={`hosts/${id}/`} title={name === id ? undefined : id}>
      {name}
    </a>
  );
}

/** Returns a figure as text; until the first ones have arrived the load says so, and the others are empty. */
export const figureOf = ({ isMeasuring, figures }: Machine, name: keyof Figures): string => {
  if (isMeasuring) return name === 'load' ? T.measuring : '';
  return name === 'temperature' ? celsius(figures[name]) : percent(figures[name]);
};

export function State({ state }: { readonly state: HostState }) {
  return <span class={`mark ${state}`}>{T.states[state]}</span>;
}

/** Has another machine wake this one; its state shows whether it has come up. */
export function Wake({ machine: { id, name, wakers } }: { readonly machine: Machine }) {
  const may = useMay();
  const { notice, isBusy, run } = useActs();
  const [first] = wakers;
  if (first === undefined || !may('wake')) return undefined;
  const wake = async () => {
    await post(`/api/hosts/${id}/wake`, {});
    return T.wakeSent;
  };
  return (
    <button
      type="button"
      class="quiet text"
      disabled={isBusy}
      title={notice?.text ?? T.wakeBy(first)}
      aria-label={T.wakeName(name)}
      onClick={() => void run(wake)}
    >
      {notice?.text ?? T.wake}
    </button>
  );
}

/** Returns why it is not up, otherwise its labels. */
export const aboutOf = ({ condition, labels }: Machine): string => condition.reason ?? labels.join(', ');

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
export const levelOf = (share: number | null): string =>
  share === null || share < 85 ? '' : share < 95 ? 'raised' : 'high';

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
