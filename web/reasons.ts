/** Reasons that a card has learned from its own request, which makes it a line of "Not available here", and their words. */
import { useEffect } from 'preact/hooks';
import { Value } from './value.ts';

export const reasons = new Value<ReadonlyMap<string, string>>(new Map());

/** Returns `known` with the current reason for `label`. */
export function withReason(
  known: ReadonlyMap<string, string>,
  label: string,
  reason: string | undefined,
): ReadonlyMap<string, string> {
  if (known.get(label) === reason) return known;
  const others = [...known].filter(([name]) => name !== label);
  return new Map(reason === undefined ? others : [...others, [label, reason]]);
}

/** Returns a reason without names of buses and interfaces, which say something to administrators only. */
export function plainReason(reason: string): string {
  if (/session bus/.test(reason)) return 'no desktop session found';
  return /system bus|D-Bus|org\.freedesktop\.|unix:/.test(reason)
    ? 'the system service for this does not answer'
    : reason;
}

/** Shows `reason` there while the component exists. */
export function useReason(label: string, reason: string | undefined): void {
  useEffect(() => {
    reasons.set(withReason(reasons.current, label, reason));
    return () => reasons.set(withReason(reasons.current, label, undefined));
  }, [label, reason]);
}
