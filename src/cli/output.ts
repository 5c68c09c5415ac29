/** What a command that does not serve comes to: text for standard output, and an exit code. */

export interface Output {
  readonly text: string;
  readonly exitCode: number;
}
