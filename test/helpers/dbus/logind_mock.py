"""dbusmock's template of logind, extended by ...WithFlags, inhibitors of any user, PrepareFor..., delays and refusals.

The parameters are those of LogindOptions in bus.ts.
"""
import json
import os
import time

import dbus
from dbusmock import mockobject
from dbusmock.templates import logind
from gi.repository import GLib
# The template's own methods: dbusmock takes those it finds here.
from dbusmock.templates.logind import *  # noqa: F403
from dbusmock.templates.logind import BUS_NAME, MAIN_IFACE, MAIN_OBJ, SYSTEM_BUS  # noqa: F401

options = {}
# The delay inhibitors that are held.
held = []
# As logind's InhibitDelayMaxSec=.
MAX_DELAY_SECONDS = 5


def note(event, *words):
    if "journal" in options:
        with open(options["journal"], "a", encoding="utf-8") as journal:
            print(json.dumps({"atNs": str(time.monotonic_ns()), "event": event, "words": words}), file=journal)


@dbus.service.method(MAIN_IFACE, in_signature="ssss", out_signature="h")
def Inhibit(_, what, who, why, mode):
    read, write = os.pipe()
    words = [str(word) for word in (what, who, why, mode)]
    held.append(words)
    note("inhibit", *words)

    def dropped(pipe, _condition):
        os.close(pipe)
        held.remove(words)
        note("released", *words)
        return False

    GLib.unix_fd_add_full(GLib.PRIORITY_HIGH, read, GLib.IO_HUP, dropped)
    GLib.idle_add(os.close, write)
    return dbus.types.UnixFd(write)


def announce(mock, method, is_going):
    note("prepare" if is_going else "awake")
    if method == "Suspend":
        return mock.EmitSignal(MAIN_IFACE, "PrepareForSleep", "b", [is_going])
    if options.get("typed"):
        metadata = {"type": {"PowerOff": "poweroff", "Reboot": "reboot"}[method]}
        mock.EmitSignal(MAIN_IFACE, "PrepareForShutdownWithMetadata", "ba{sv}", [is_going, metadata])
    mock.EmitSignal(MAIN_IFACE, "PrepareForShutdown", "b", [is_going])


def after_delays(mock, method):
    """Does as logind: announces it, begins when no inhibitor delays it any more, and announces when it is over."""
    begun = time.monotonic()
    announce(mock, method, True)

    def end():
        announce(mock, method, False)
        return False

    def wait():
        if held and time.monotonic() - begun < MAX_DELAY_SECONDS:
            return True
        note("asleep" if method == "Suspend" else "off")
        # The next shutdown of this mock is another one.
        GLib.timeout_add(int(options["sleepSeconds"] * 1000), end)
        return False

    GLib.timeout_add(1, wait)


mockobject.after_delays = after_delays


@dbus.service.method(MAIN_IFACE, in_signature="", out_signature="a(ssssuu)")
def ListInhibitors(_):
    rows = [(*row[:4], dbus.UInt32(row[4]), dbus.UInt32(4242)) for row in options.get("inhibitors", [])]
    return dbus.Array(rows, signature="(ssssuu)")


@dbus.service.method(MAIN_IFACE, in_signature="", out_signature="a(susso)")
def ListSessions(_):
    rows = [
        (session, dbus.UInt32(uid), f"user{uid}", seat, dbus.ObjectPath(f"/org/freedesktop/login1/session/{session}"))
        for session, uid, seat in options.get("sessions", [])
    ]
    return dbus.Array(rows, signature="(susso)")


def load(mock, parameters):
    options.update(parameters)
    logind.load(mock, parameters)
    flags = parameters.get("flags", "all")
    for act in ("PowerOff", "Reboot", "Suspend", "Hibernate"):
        done = ""
        if "journal" in parameters and act != "Hibernate":
            done = f"from dbusmock import mockobject; mockobject.after_delays(self, '{act}')"
        elif "sleepSeconds" in parameters and act in ("Suspend", "Hibernate"):
            done = f"""
from gi.repository import GLib
self.EmitSignal('{MAIN_IFACE}', 'PrepareForSleep', 'b', [True])
GLib.timeout_add({int(parameters["sleepSeconds"] * 1000)}, lambda me=self: me.EmitSignal(
    '{MAIN_IFACE}', 'PrepareForSleep', 'b', [False]))
"""
        if "refusal" in parameters:
            done = f"raise dbus.exceptions.DBusException('refused\\nfor a reason', name='{parameters['refusal']}')"
        mock.AddMethod(MAIN_IFACE, act, "b", "", done)
        refuse_flags = (
            "if args[0] != 0: raise dbus.exceptions.DBusException("
            "'Invalid flags parameter', name='org.freedesktop.DBus.Error.InvalidArgs')\n"
        )
        if flags != "none":
            code = (refuse_flags if flags == "zero" else "") + done
            mock.AddMethod(MAIN_IFACE, act + "WithFlags", "t", "", code)
    print("the mock of logind is ready", flush=True)
