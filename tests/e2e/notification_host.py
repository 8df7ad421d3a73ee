#!/usr/bin/python3
"""Plays the desktop's notification service: prints each notification as one JSON line.

The first line it prints says that it is ready. Ends with its standard input.
Needs the system's own Python with python3-dbus and python3-gi.
"""
import json
import sys
import threading

import dbus
import dbus.service
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

NAME = "org.freedesktop.Notifications"


def say(value):
    print(json.dumps(value), flush=True)


class Notifications(dbus.service.Object):
    """Takes what programs want to have shown."""

    def __init__(self, bus):
        self.count = 0
        super().__init__(dbus.service.BusName(NAME, bus), "/org/freedesktop/Notifications")

    @dbus.service.method(NAME, in_signature="susssasa{sv}i", out_signature="u")
    def Notify(self, program, replaces, icon, summary, body, actions, hints, timeout):
        self.count += 1
        say({"title": str(summary), "text": str(body)})
        return replaces or self.count

    @dbus.service.method(NAME, out_signature="as")
    def GetCapabilities(self):
        return ["body"]

    @dbus.service.method(NAME, out_signature="ssss")
    def GetServerInformation(self):
        return ("journey", "evenkeel", "1", "1.2")

    @dbus.service.method(NAME, in_signature="u")
    def CloseNotification(self, number):
        self.NotificationClosed(number, 3)

    @dbus.service.signal(NAME, signature="uu")
    def NotificationClosed(self, number, reason):
        pass


def main():
    DBusGMainLoop(set_as_default=True)
    host = Notifications(dbus.SessionBus())
    loop = GLib.MainLoop()

    def listen():
        for _ in sys.stdin:
            pass
        GLib.idle_add(loop.quit)

    threading.Thread(target=listen, daemon=True).start()
    say({"ready": host.count == 0})
    loop.run()


if __name__ == "__main__":
    main()
