/** The files of packaging/mqtt: configurations of brokers, and who may do what. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

const FILES = path.resolve(import.meta.dirname, '../../../../../packaging/mqtt');

export const shipped = (name: string) => readFileSync(path.join(FILES, name), 'utf8');
