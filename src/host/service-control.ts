/** The system's service manager (Windows' service control manager). */

export interface ServiceControl {
  /**
   * Registers this process with the manager as the running service; once per process. `onStop` is called when the
   * manager stops the service. Rejects with an Error that says why this process is not a service.
   */
  begin(onStop: () => void): Promise<void>;
  /** Reports that the service runs and can be stopped. */
  running(): void;
  /** Reports the exit code, just before the process ends. */
  ended(exitCode: number): void;
  /**
   * Creates the service. `command`: the absolute path of the program, and its arguments. Returns a sentence for each
   * property that could not be set. Throws an Error when the service could not be created.
   */
  install(command: readonly string[]): readonly string[];
  /** Stops the service if it runs, and removes it. Throws an Error with a sentence. */
  remove(): void;
}
