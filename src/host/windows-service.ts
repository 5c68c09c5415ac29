/** The service control manager of Windows, as this process sees it. */

export interface WindowsService {
  /**
   * Makes the manager accept this process as the service; once per process. `onStop` is called when it wants the
   * service to end. Rejects with an Error that says why this process is not a service.
   */
  begin(onStop: () => void): Promise<void>;
  /** Reports that the service is running and may be stopped. */
  running(): void;
  /** Sends the last report before the process ends. */
  ended(exitCode: number): void;
  /**
   * Registers the service: `command` is the program, as an absolute path, and its arguments. Returns the settings that
   * failed, as sentences. Throws an Error with a sentence when the service could not be registered.
   */
  install(command: readonly string[]): readonly string[];
  /** Stops the service, if it is running, and unregisters it. Throws an Error with a sentence. */
  remove(): void;
}
