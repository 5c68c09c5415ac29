/** The matrix of commands is whole; test/access/system/command-adapters.test.ts runs it. */
import t from 'tap';
import { systemClock } from '#src/clock.js';
import { createCommands } from '#src/composition.js';
import { DEFAULT_CONFIG } from '#src/config/config.js';
import { LiveConfig } from '#src/config/current.js';
import { createLog } from '#src/log/log.js';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { ADAPTER_CASES, COMMAND_CASES, COMMAND_OPERATIONS } from './command-cases.ts';

t.test(
  '[1.matrix-commands] every operation of HTTP that runs a command, and every command, is in the matrix',
  async (t) => {
    t.same(Object.keys(COMMAND_CASES).toSorted(), COMMAND_OPERATIONS.toSorted());
    const log = createLog(() => undefined);
    const clock = systemClock(() => performance.now());
    const config = new LiveConfig({
      ...DEFAULT_CONFIG,
      power: { ...DEFAULT_CONFIG.power, backend: 'record' },
    });
    const { commands } = createCommands({ config, host: fixtureHost(), clock, log }, 1);
    t.same([...new Set(ADAPTER_CASES.map(({ command }) => command))].toSorted(), commands.names.toSorted());
  },
);
