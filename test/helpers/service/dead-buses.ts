/**
 * No bus of this machine can be reached by what a test starts, in this process or in one that inherits from it: whoever
 * powers off, does it on a bus of the test's own. Imported first by everything that opens the machine.
 */
import process from 'node:process';

/** Where nothing can listen. */
export const DEAD_BUS = 'unix:path=/dev/null/no-bus';

export const DEAD_BUSES = {
  DBUS_SYSTEM_BUS_ADDRESS: DEAD_BUS,
  DBUS_SESSION_BUS_ADDRESS: DEAD_BUS,
} as const;

Object.assign(process.env, DEAD_BUSES);
