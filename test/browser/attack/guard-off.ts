/**
 * For `node --import`: runs the program with its web guard taken out. It exists in this folder only; no setting, no
 * variable and no argument of the program does it.
 */
import { register } from 'node:module';

register('./guard-off-hooks.js', import.meta.url);
