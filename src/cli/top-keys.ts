/** The keys of `hostwire top`: its help and the manual page are generated from these rows. */
export const TOP_KEYS = [
  ['Up, Down', 'select a process'],
  ['Page Up/Down', 'scroll by a screen'],
  ['Home, End', 'select the first or last process'],
  ['c, m, n', 'sort the processes by CPU, memory or name'],
  ['/', 'filter by part of the name, or by pid'],
  ['Enter, Escape', 'keep or clear the filter'],
  ['k, Delete', 'end the selected process, after confirmation'],
  ['Ctrl-L, Ctrl-Z', 'redraw; suspend'],
  ['?', 'show this help'],
  ['q, Ctrl-C', 'quit; q returns to the list of a hub'],
] as const;

export const CPU_OF_PROCESS = 'The CPU of a process is its share of all processors.';
