/**
 * The pages of the hub: all machines at `/`, and one machine at /hosts/{id}/, which is the dashboard of the service with
 * another address to ask. The page of an id that is not configured is the same: pages are public, ids are not.
 */
import { readDashboard, type WebFile } from '../http/endpoints/dashboard.ts';

/** Those of the dashboard but its page, and the hub's own; empty if they were not built. */
export function readPages(): readonly WebFile[] {
  const own = readDashboard('fleet');
  return own.length === 0 ? [] : [...own, ...readDashboard().filter(({ path }) => path !== '/')];
}
