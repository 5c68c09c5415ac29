/** Converts slots for the worker, and its answers. Pure. */
import type { Slot, StoreAnswer } from '../history.ts';
import type { PackedSlot, PackedSlots, ReadAnswer } from './messages.ts';

/** Copying objects to another thread costs 40 times as much as these arrays. */
export function packSlots(slots: readonly Slot[]): PackedSlots {
  const names: string[] = [];
  const units: string[] = [];
  const positions = new Map<string, number>();
  const positionOf = (name: string, unit: string) => {
    const known = positions.get(name);
    if (known !== undefined && units[known] === unit) return known;
    positions.set(name, names.length);
    names.push(name);
    return units.push(unit) - 1;
  };
  const pack = ({ at, values, processes }: Slot): PackedSlot => {
    const series = new Uint32Array(values.size);
    const numbers = new Float32Array(values.size * 3);
    let row = 0;
    for (const [name, { unit, mean, min, max }] of values) {
      series[row] = positionOf(name, unit);
      numbers.set([mean, min, max], row++ * 3);
    }
    return { at, series, values: numbers, processes };
  };
  return { slots: slots.map(pack), names, units };
}

/** Slots without any value are left out. */
export function unpackAnswer({ start, step, columns, marks, events }: ReadAnswer): StoreAnswer {
  const slots = new Map<number, Map<string, { unit: string; mean: number; min: number; max: number }>>();
  for (const { name, unit, mean, min, max } of columns)
    mean.forEach((value, i) => {
      if (Number.isNaN(value)) return;
      const values = slots.get(i) ?? new Map();
      slots.set(i, values.set(name, { unit, mean: value, min: min[i] ?? value, max: max[i] ?? value }));
    });
  return {
    step,
    slots: [...slots]
      .sort(([a], [b]) => a - b)
      .map(([i, values]) => ({ at: start + i * step, values, processes: undefined })),
    marks,
    events,
  };
}
