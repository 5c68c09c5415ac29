/** The result of a one-shot command: text for standard output, and an exit code. */

export interface Output {
  readonly text: string;
  readonly exitCode: number;
}
