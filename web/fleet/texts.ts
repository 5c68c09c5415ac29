/** The texts of the page of all machines. */
import type { HostState } from '../../src/wire/hub.ts';
import { counted, TEXTS } from '../texts.ts';

const STATES: Readonly<Record<HostState, string>> = {
  up: 'Up',
  asleep: 'Asleep',
  off: 'Off',
  down: 'Down',
  refused: 'Refused',
  unknown: 'Unknown',
};
const COLUMNS = {
  name: 'Name',
  state: 'State',
  load: 'Load',
  memory: 'Memory',
  disk: 'Disk',
  temperature: 'Temperature',
} as const;

export const T = {
  title: 'Machines',
  skip: 'Skip to the machines',
  states: STATES,
  columns: COLUMNS,
  count: (count: number, state: HostState) => `${count.toLocaleString('en')} ${STATES[state].toLowerCase()}`,
  documentTitle: (down: number) => (down === 0 ? 'Machines · hostwire' : `${down} down · hostwire`),
  search: 'Search',
  state: 'State',
  label: 'Label',
  all: 'All',
  sort: 'Sort by',
  reverse: 'Reverse order',
  view: 'View',
  views: { table: 'Table', tiles: 'Tiles' },
  caption: 'Table of machines',
  trail: 'Last minute',
  media: 'Media',
  paused: (track: string) => `Paused: ${track}`,
  about: 'About',
  wake: 'Wake',
  wakeName: (name: string) => `Wake ${name}`,
  wakeBy: (id: string) => `${id} can wake it`,
  wakeSent: 'Packets sent',
  measuring: TEXTS.measuring,
  shown: (shown: number, all: number) => {
    const machines = counted(all, 'machine', 'machines');
    if (shown < all) return `${shown.toLocaleString('en')} of ${machines}`;
    return all === 1 ? machines : `All ${machines}`;
  },
  none: 'No matching machines.',
  empty: 'This hub has no machines; add some to hub.agents.',
} as const;
