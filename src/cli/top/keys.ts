/** Applies a key to the view. Pure. */
import type { Key } from 'node:readline';
import type { ProcessRow } from '../../wire/process.ts';
import type { Sort, View } from './view.ts';

/** Requests of a key to the terminal. */
export type TerminalAction = 'quit' | 'suspend' | 'redraw';

/** Result of a key besides another view; `back`: to the machines of the hub, or the end without a hub. */
export type KeyAction = TerminalAction | 'back' | { readonly end: ProcessRow; readonly by: 'term' | 'kill' };

export interface Pressed {
  readonly view: View;
  readonly action?: KeyAction;
}

const MAX_QUERY = 200;
const CONTROL_KEYS: Readonly<Record<string, TerminalAction>> = { c: 'quit', z: 'suspend', l: 'redraw' };

/** Returns the effect of a key while Ctrl is held; undefined for any other key. */
export const controlAction = ({ ctrl, name = '' }: Key): TerminalAction | undefined =>
  ctrl === true ? CONTROL_KEYS[name] : undefined;

const SORTS: Readonly<Record<string, Sort>> = { c: 'cpu', m: 'memory', n: 'name' };

/** `shown`: number of visible process rows. */
export function press(before: View, key: Key, shown: number): Pressed {
  const view = { ...before, note: '' };
  const { meta, sequence = '' } = key;
  // A terminal sends the same for Alt and a key as for Escape and, soon after, that key.
  if (meta === true && sequence.length > 1)
    return press(
      press(view, { name: 'escape' }, shown).view,
      { ...key, meta: false, sequence: sequence.slice(1) },
      shown,
    );
  if (key.ctrl === true) {
    const action = controlAction(key);
    return action === undefined ? { view } : { view, action };
  }
  // Any key leaves the help.
  if (view.isHelp) return { view: { ...view, isHelp: false } };
  if (view.ending !== undefined) return confirm(view, view.ending, key);
  return view.isTyping ? { view: type(view, key) } : command(view, key, shown);
}

function confirm(view: View, end: ProcessRow, { sequence }: Key): Pressed {
  const closed = { ...view, ending: undefined };
  if (sequence !== 'y' && sequence !== 'f') return { view: closed };
  return { view: closed, action: { end, by: sequence === 'f' ? 'kill' : 'term' } };
}

function withQuery(view: View, query: string): View {
  return { ...view, listing: { ...view.listing, query: query.slice(0, MAX_QUERY), offset: 0 } };
}

function type(view: View, { name, sequence = '' }: Key): View {
  const { query } = view.listing;
  if (name === 'return' || name === 'enter') return { ...view, isTyping: false };
  if (name === 'escape') return { ...withQuery(view, ''), isTyping: false };
  if (name === 'backspace') return withQuery(view, [...query].slice(0, -1).join(''));
  return /^[^\p{C}]+$/u.test(sequence) ? withQuery(view, query + sequence) : view;
}

function command(view: View, { name = '', sequence = '' }: Key, shown: number): Pressed {
  const sort = SORTS[sequence];
  if (sort !== undefined) return { view: { ...view, listing: { ...view.listing, sort, offset: 0 } } };
  if (sequence === 'q') return { view, action: 'back' };
  if (sequence === '?') return { view: { ...view, isHelp: true } };
  if (sequence === '/') return { view: { ...view, isTyping: true } };
  if (name === 'escape') return { view: { ...withQuery(view, ''), selected: undefined } };
  if (sequence === 'k' || name === 'delete') return { view: choose(view) };
  const steps = { up: -1, down: 1, pageup: -shown, pagedown: shown, home: -1e9, end: 1e9 }[name];
  return { view: steps === undefined ? view : move(view, steps, shown) };
}

/** Moves with the selected process; without one, it begins at the top of the visible rows. */
function move(view: View, steps: number, shown: number): View {
  const { processes, listing, selected } = view;
  if (processes === undefined || shown < 1) return view;
  const found = processes.rows.findIndex(({ pid }) => pid === selected);
  const wanted = found === -1 ? listing.offset : found + steps;
  const at = Math.max(0, Math.min(wanted, processes.rows.length - 1));
  const offset = Math.max(Math.min(listing.offset, at), at - shown + 1);
  return { ...view, selected: processes.rows[at]?.pid, listing: { ...listing, offset } };
}

function choose(view: View): View {
  const row = view.processes?.rows.find(({ pid }) => pid === view.selected);
  if (view.connected.features['enable_process_control'] !== true)
    return { ...view, note: 'ending processes is disabled (features.enable_process_control)' };
  return row === undefined
    ? { ...view, note: 'select a process with the arrow keys first' }
    : { ...view, ending: row };
}
