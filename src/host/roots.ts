/** Determines which machine is measured: this one, or the host of a container. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Host } from './host.ts';
import type { Roots } from './native.ts';

/** Settings of the configuration. */
interface RootPaths {
  readonly proc: string;
  readonly sys: string;
  readonly root: string | undefined;
  readonly name: string | undefined;
}

/** Below `host.root` everything of the host is found; `host.proc` and `host.sys` win where they are set. */
export function rootsOf({ proc, sys, root }: RootPaths): Roots {
  if (root === undefined) return { proc, sys };
  const below = (given: string, fallback: string) => (given === fallback ? path.join(root, fallback) : given);
  return { proc: below(proc, '/proc'), sys: below(sys, '/sys'), files: root };
}

/** Returns `host` under another name; undefined: its own. */
export function withName<T extends Pick<Host, 'readSystem'>>(host: T, name: string | undefined): T {
  if (name === undefined) return host;
  return { ...host, readSystem: async () => ({ ...(await host.readSystem()), hostname: name }) };
}

/** Files of container managers in a container: Docker, Podman, and those with systemd's container interface. */
const MARKS = ['/.dockerenv', '/run/.containerenv', '/run/systemd/container'];

export function isContainer(exists: (file: string) => boolean = existsSync): boolean {
  return MARKS.some(exists);
}

/** Returns which values are the container's instead of the host's; undefined outside a container, or if all was set. */
export function describeContainer(
  { proc, root, name }: RootPaths,
  isInContainer: boolean,
): { readonly reason: string; readonly remedy: string } | undefined {
  if (!isInContainer) return undefined;
  const own: string[] = [];
  const remedies: string[] = [];
  if (root === undefined && proc === '/proc') {
    own.push('disks', 'network', 'processes');
    remedies.push("mount the host's root folder read-only at /host, and set host.root to /host");
  }
  if (name === undefined) {
    own.push('host name');
    remedies.push('set host.name');
  }
  if (own.length === 0) return undefined;
  return { reason: `the container's own are shown (${own.join(', ')})`, remedy: remedies.join('; ') };
}
