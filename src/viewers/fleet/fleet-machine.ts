/** The machines of a hub as the fleet shows them. */
import type { Machine } from '../../machine/machine.ts';
import type { HostRow, HostState } from '../../wire/hub.ts';

export interface FleetMachine extends Pick<Machine, 'id' | 'feedOf'> {
  readonly labels: Readonly<Record<string, string>>;
  readonly condition: { readonly state: HostState };
  /** Changes with the condition. */
  readonly version: number;
  /** That of /api/hosts. */
  readonly row: HostRow;
}

export interface FleetMachines {
  /** In the order of their ids. */
  readonly all: readonly FleetMachine[];
  /** Changes with the machines that there are, and their labels. */
  readonly version: number;
}
