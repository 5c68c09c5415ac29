"""A systemd manager that takes StartUnit and does nothing."""
BUS_NAME = "org.freedesktop.systemd1"
MAIN_OBJ = "/org/freedesktop/systemd1"
MAIN_IFACE = "org.freedesktop.systemd1.Manager"
SYSTEM_BUS = True


def load(mock, _parameters):
    mock.AddMethod(MAIN_IFACE, "StartUnit", "ss", "o", "ret = '/org/freedesktop/systemd1/job/1'")
    print("the mock of systemd is ready", flush=True)
