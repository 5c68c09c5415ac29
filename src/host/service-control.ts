/** The system's own manager of services (the service control manager of Windows), as this process knows it. */

export interface ServiceControl {
  /**
   * Has the manager take this process for the service; once a process. `onStop` is called when it wants the service to
   * end. Rejects with an Error that says why this is none.
   */
  begin(onStop: () => void): Promise<void>;
  /** From now on the service may be stopped. */
  running(): void;
  /** The last word before the process ends. */
  ended(exitCode: number): void;
  /**
   * Registers the service: `command` is the program, as an absolute path, and its arguments. What could not be set, as
   * sentences. Throws an Error with one when there is no such service then.
   */
  install(command: readonly string[]): readonly string[];
  /** Stops the service, if it runs, and has it forgotten. Throws an Error with a sentence. */
  remove(): void;
}
