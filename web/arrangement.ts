/** The order of the cards, and which are folded, as this browser keeps them; nothing is kept until one is changed. */
import { type Arrangement, moved, readArrangement } from './placing.ts';
import { storageName } from './requests.ts';
import { Value } from './value.ts';

const NAME = storageName('cards');

export const arrangement = new Value(readArrangement(localStorage.getItem(NAME)));
/** Whether cards show the buttons that move them. */
export const isArranging = new Value(false);

function keep(change: Partial<Arrangement>): void {
  arrangement.set({ ...arrangement.current, ...change });
  const { order, folded } = arrangement.current;
  if (order.length + folded.length === 0) localStorage.removeItem(NAME);
  else localStorage.setItem(NAME, JSON.stringify(arrangement.current));
}

export function fold(key: string): void {
  const { folded } = arrangement.current;
  keep({ folded: folded.includes(key) ? folded.filter((each) => each !== key) : [...folded, key] });
}

export const forgetOrder = (): void => keep({ order: [] });

/** `shown`: the keys of the cards on the page, in their order. */
export const move = (shown: readonly string[], key: string, by: 1 | -1): void =>
  keep({ order: moved(shown, key, by) });
