/** An invalid flag or variable. The message names it, its value and what was expected. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

/** An error of the machine, not the program: one line and exit code 3. */
export class EnvironmentError extends Error {
  override name = 'EnvironmentError';
}
