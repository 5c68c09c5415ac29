/** The service control manager of Windows, as this process sees it. */

export interface WindowsService {
  /**
   * Has the manager accept this process as the service; once per process. `onStop` is called when it wants the service
   * to end. Rejects with an Error that says why this process is no service.
   */
  begin(onStop: () => void): Promise<void>;
  /** From now on the service may be stopped. */
  running(): void;
  /** The last report before the process ends. */
  ended(exitCode: number): void;
  /**
   * Registers the service: `command` is the program, as an absolute path, and its arguments. Returns what could not be
   * set, as sentences. Throws an Error with a sentence when the service could not be registered.
   */
  install(command: readonly string[]): readonly string[];
  /** Stops the service, if it runs, and unregisters it. Throws an Error with a sentence. */
  remove(): void;
}
