/** The keys of `hostwire top`: its help and the manual page are generated from these rows. */
export const TOP_KEYS = [
  ['Up, Down', 'select a process'],
  ['Page Up/Down', 'scroll by a screen'],
  ['Home, End', 'select the first or the last process'],
  ['c, m, n', 'sort the processes by CPU, memory or name'],
  ['/', 'filter by a part of the name, or a pid'],
  ['Enter, Escape', 'keep the filter, or remove it'],
  ['k, Delete', 'end the selected process, after confirmation'],
  ['Ctrl-L, Ctrl-Z', 'redraw; suspend'],
  ['?', 'show these keys'],
  ['q, Ctrl-C', 'quit; q returns to the list of a hub'],
] as const;

export const CPU_OF_PROCESS = 'CPU of a process: its share of all processors.';
