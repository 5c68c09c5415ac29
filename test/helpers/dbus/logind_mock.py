"""dbusmock's template of logind, extended by ...WithFlags, inhibitors of any user, PrepareForSleep and refusals.

The parameters are those of LogindWish in bus.ts.
"""
import dbus
from dbusmock.templates import logind
# The template's own methods: dbusmock takes those it finds here.
from dbusmock.templates.logind import *  # noqa: F403
from dbusmock.templates.logind import BUS_NAME, MAIN_IFACE, MAIN_OBJ, SYSTEM_BUS  # noqa: F401

wish = {}


@dbus.service.method(MAIN_IFACE, in_signature="", out_signature="a(ssssuu)")
def ListInhibitors(_):
    rows = [(*row[:4], dbus.UInt32(row[4]), dbus.UInt32(4242)) for row in wish.get("inhibitors", [])]
    return dbus.Array(rows, signature="(ssssuu)")


@dbus.service.method(MAIN_IFACE, in_signature="", out_signature="a(susso)")
def ListSessions(_):
    rows = [
        (session, dbus.UInt32(uid), f"user{uid}", seat, dbus.ObjectPath(f"/org/freedesktop/login1/session/{session}"))
        for session, uid, seat in wish.get("sessions", [])
    ]
    return dbus.Array(rows, signature="(susso)")


def load(mock, parameters):
    wish.update(parameters)
    logind.load(mock, parameters)
    flags = parameters.get("flags", "all")
    for act in ("PowerOff", "Reboot", "Suspend", "Hibernate"):
        done = ""
        if "sleepSeconds" in parameters and act in ("Suspend", "Hibernate"):
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
