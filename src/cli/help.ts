/** What `--help` and `--version` print. */

export const HELP = `hostwire: streams this computer's stats and takes power and media commands (alpha)

Usage: hostwire [command] [options]

Commands:
  run       serve (the default)
  check     print the configuration with defaults and origins; fails on errors and unknown keys
  doctor    tell what works on this machine, and why the rest does not
  service   Windows: "service install" registers hostwire as a service that starts with the system, with the
            options given here; "service remove" stops and removes it
  keygen    print a new API key of 64 hex characters
  help      print this
  version   print the version

Options:
  --config PATH      a configuration file (.json, .yaml, .yml); repeatable; only these are read
  --host HOST        the address to listen on
  --port PORT        the port to listen on
  --log-level LEVEL  error, warn, info or debug
  --service          run as a service of Windows, started by its service control manager
  --help, -h         print this
  --version          print the version

Without --config the files are config.json, config.yaml and config.yml of the first of these folders that has any:
the working folder, $XDG_CONFIG_HOME/hostwire (else ~/.config/hostwire), /etc/hostwire
(on Windows %ProgramData%\\hostwire).
`;
