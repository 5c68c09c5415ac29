/** The log of a running service: where its lines are written, and in which form. */
import { fstatSync } from 'node:fs';
import { AuditFile } from './file.ts';
import { formatOf, isJournal, type LogFormat, type LogLevel } from './format.ts';
import { createLog, type Log } from './log.ts';
import { Output } from './output.ts';

export interface ServiceLog {
  readonly log: Log;
  /** Opens `log.file` again. */
  reopen(): void;
  /** Must be called before the process ends. */
  flush(): void;
}

export interface ServiceLogOptions {
  readonly config: {
    readonly level: LogLevel;
    readonly format: LogFormat;
    /** Path of the audit trail. */
    readonly file: string | undefined;
  };
  readonly native: {
    /** The function of host/native.ts. */
    writeAtOnce(stream: 1 | 2, bytes: Buffer): number;
  };
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Receives the lines instead of standard error, and adds the time. */
  readonly write?: ((line: string) => void) | undefined;
}

const STDERR = 2;

export function openServiceLog({ config, native, variables, write }: ServiceLogOptions): ServiceLog {
  const format = formatOf(config.format, {
    isJournal: write === undefined && isJournal(variables, statOf(STDERR)),
    hasTime: write !== undefined,
  });
  const output = new Output({
    take: (bytes) => native.writeAtOnce(STDERR, bytes),
    describeLost: (lines) =>
      format({
        level: 'warn',
        text: `${lines} lines of the log were lost: they could not be written`,
        fields: {},
      }),
  });
  let audit: AuditFile | undefined;
  const log = createLog(write ?? ((line) => output.write(line)), config.level, {
    format,
    auditTo: (line) => audit?.write(line) ?? false,
  });
  if (config.file !== undefined) audit = new AuditFile(config.file, (text) => log.error(text));
  return { log, reopen: () => audit?.reopen(), flush: () => output.flush() };
}

function statOf(descriptor: number) {
  try {
    return fstatSync(descriptor);
  } catch {
    // The stream was closed before the start, and Node did not open it again.
    return undefined;
  }
}
