/** The shown time in the fragment of the address, which can be shared: `#from=…&to=…&at=…`, beside what else is there. */

const paramsNow = () => new URLSearchParams(location.hash.slice(1));

/** Returns Unix seconds; undefined: the address has no such time. */
export function timeInAddress(name: 'from' | 'to' | 'at'): number | undefined {
  const text = paramsNow().get(name) ?? '';
  return /^\d{1,12}$/.test(text) ? Number(text) : undefined;
}

export function writeAddress(times: Readonly<Record<string, number | undefined>>): void {
  const params = paramsNow();
  for (const [name, at] of Object.entries(times))
    if (at === undefined) params.delete(name);
    else params.set(name, String(Math.floor(at)));
  // A name without a value stays one.
  const hash = params.toString().replace(/=(?=&|$)/g, '');
  if (hash === location.hash.slice(1)) return;
  history.replaceState(history.state, '', `${location.pathname}${location.search}${hash && `#${hash}`}`);
}
