/** What `--help` prints. */

export const HELP = `hostwire: streams this computer's stats and carries out power, media and process commands (alpha)

Usage: hostwire [command] [options]

Commands:
  run       run the service (the default)
  check     print the configuration, defaults included, and where each setting comes from; exits with 1 if there
            are errors or unknown keys
  doctor    print what works on this machine, what does not, why, and what it would take
  discover  list the hostwire services that announce themselves on the network (discovery.mdns)
  service   on Windows: "service install" registers hostwire as a service that starts with the system, with the
            options given here; "service remove" stops and unregisters it
  keygen    print a new API key of 64 hex characters; "keygen --tls [--out FOLDER] [NAME…]" writes a private key and a
            self-signed certificate for this machine's names and those given, and prints the certificate's pin
  wake      "wake NAME|MAC" wakes a machine of this network (Wake-on-LAN): one of wake.hosts in the configuration, or any
            MAC address
  help      print this help
  version   print the version

Options:
  --config PATH      read this configuration file (.json, .yaml, .yml) and no others; may be repeated
  --host HOST        the address to listen on
  --port PORT        the port to listen on
  --log-level LEVEL  the lowest severity to log: error, warn, info or debug
  --tls              with keygen: make a key and a certificate for HTTPS
  --out FOLDER       with keygen --tls: where to write them (default: the working folder)
  --broadcast ADDR   with wake: send to this IPv4 address only (default: the broadcast address of each interface)
  --seconds N        with discover: how long to listen for answers, 1 to 60 (default: 3)
  --json             with check, doctor, discover and wake: print JSON
  --service          run as a Windows service; for the service control manager
  --help, -h         print this help
  --version          print the version

Without --config and $HOSTWIRE_CONFIG, hostwire reads config.json, config.yaml and config.yml from the first of these
folders that has any of them: $XDG_CONFIG_HOME/hostwire (~/.config/hostwire if that is not set), the working folder (only
files with keys of hostwire), /etc/hostwire (%ProgramData%\\hostwire on Windows). Every key can also be set by a variable
such as HOSTWIRE_SERVER_PORT, which wins over files and loses to options.
`;
