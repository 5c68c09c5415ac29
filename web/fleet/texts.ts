/** The texts of the page of all machines. */
import type { HostState } from '../../src/wire/hub.ts';
import { counted, TEXTS } from '../texts.ts';

const COLUMNS = {
  name: 'Name',
  state: 'State',
  load: 'Load',
  memory: 'Memory',
  disk: 'Disk',
  temperature: 'Temperature',
  network: 'Network',
  uptime: 'Uptime',
  version: 'Version',
} as const;

export const T = {
  title: 'Machines',
  skip: 'Skip to the machines',
  columns: COLUMNS,
  count: (count: number, state: HostState) =>
    `${count.toLocaleString('en')} ${TEXTS.states[state].toLowerCase()}`,
  documentTitle: (down: number, alarms: number) => {
    const parts = [down > 0 && `${down} down`, alarms > 0 && counted(alarms, 'alarm', 'alarms')].filter(
      Boolean,
    );
    return `${parts.length === 0 ? 'Machines' : parts.join(', ')} · hostwire`;
  },
  since: (time: string) => `since ${time}`,
  asOf: (time: string) => `Last values, as of ${time}`,
  open: (count: number) => counted(count, 'open event', 'open events'),
  severities: { critical: 'Critical', warning: 'Warning', info: 'Note' },
  mutes: {
    machine: (name: string) => `All of ${name}`,
    rule: (rule: string) => `${rule} on all machines`,
  },
  more: (count: number) => `${count.toLocaleString('en')} more`,
  traffic: (receive: string, send: string) => `↓ ${receive} ↑ ${send}`,
  search: 'Search',
  state: 'State',
  label: 'Label',
  all: 'All',
  sort: 'Sort by',
  reverse: 'Reverse order',
  view: 'View',
  views: { table: 'Table', tiles: 'Tiles', compare: 'Compare' },
  group: 'Group by',
  noGroup: 'Nothing',
  withoutLabel: (name: string) => `no ${name}`,
  groupOf: (machines: number, down: number) =>
    `${counted(machines, 'machine', 'machines')}${down === 0 ? '' : `, ${down.toLocaleString('en')} down`}`,
  worst: (value: string) => `worst ${value}`,
  removeLabel: (label: string) => `Remove the filter ${label}`,
  compare: (name: string) => `Compare ${name}`,
  compareHelp: 'Choose two to six machines in the table, then “Compare”.',
  comparison: { ...COLUMNS, receive: 'Received', send: 'Sent' },
  range: 'Time range',
  time: 'Time',
  play: (name: string) => `Play on ${name}`,
  pause: (name: string) => `Pause on ${name}`,
  caption: 'Table of machines',
  trail: 'Last minute',
  media: 'Media',
  paused: (track: string) => `Paused: ${track}`,
  about: 'About',
  measuring: TEXTS.measuring,
  shown: (shown: number, all: number) => {
    const machines = counted(all, 'machine', 'machines');
    if (shown < all) return `${shown.toLocaleString('en')} of ${machines}`;
    return all === 1 ? machines : `All ${machines}`;
  },
  none: 'No matching machines.',
  empty: 'This hub has no machines; add some to hub.agents.',
} as const;
