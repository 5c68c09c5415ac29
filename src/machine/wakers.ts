/** Finds the machines of a hub that can wake another one: it is in their `wake.hosts`, by its id or its name. */
import type { Machines } from './machines.ts';
import type { Registry } from './registry.ts';
import type { RemoteMachine } from './remote.ts';

export interface Waker {
  readonly machine: RemoteMachine;
  /** Its name for the other one. */
  readonly target: string;
}

/** Returns the machines that are up, by the names in their `wake.hosts`. */
export function wakersIn(
  { all }: Pick<Machines, 'all'>,
  registry: Pick<Registry, 'facts'>,
): ReadonlyMap<string, readonly Waker[]> {
  const found = new Map<string, Waker[]>();
  for (const machine of all)
    for (const target of machine.isUp ? (registry.facts(machine.id).wakes ?? []) : []) {
      const known = found.get(target);
      if (known === undefined) found.set(target, [{ machine, target }]);
      else known.push({ machine, target });
    }
  return found;
}

/** Returns the machines that can wake `machine`; none while it is up. */
export const wakersOf = (
  { id, name, isUp }: Pick<RemoteMachine, 'id' | 'name' | 'isUp'>,
  wakers: ReadonlyMap<string, readonly Waker[]>,
): readonly Waker[] => (isUp ? [] : (wakers.get(id) ?? wakers.get(name) ?? []));
