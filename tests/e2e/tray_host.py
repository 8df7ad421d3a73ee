#!/usr/bin/python3
"""Plays the panel that shows tray icons: a StatusNotifierWatcher and host on the session bus.

Reads one JSON question a line ({"do": "menu" | "choose" | "item", "label"?}) and prints one JSON answer a line.
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

WATCHER = "org.kde.StatusNotifierWatcher"
ITEM = "org.kde.StatusNotifierItem"
MENU = "com.canonical.dbusmenu"
PROPERTIES = "org.freedesktop.DBus.Properties"


class Watcher(dbus.service.Object):
    """The registry that icons announce themselves to."""

    def __init__(self, bus):
        self.items = []
        super().__init__(dbus.service.BusName(WATCHER, bus), "/StatusNotifierWatcher")

    @dbus.service.method(WATCHER, in_signature="s", sender_keyword="sender")
    def RegisterStatusNotifierItem(self, service, sender=None):
        # libayatana-appindicator passes an object path, others a bus name.
        item = (sender, service) if service.startswith("/") else (service, "/StatusNotifierItem")
        if item not in self.items:
            self.items.append(item)
        self.StatusNotifierItemRegistered("".join(item))

    @dbus.service.method(WATCHER, in_signature="s")
    def RegisterStatusNotifierHost(self, service):
        self.StatusNotifierHostRegistered()

    @dbus.service.signal(WATCHER, signature="s")
    def StatusNotifierItemRegistered(self, service):
        pass

    @dbus.service.signal(WATCHER)
    def StatusNotifierHostRegistered(self):
        pass

    @dbus.service.method(PROPERTIES, in_signature="ss", out_signature="v")
    def Get(self, interface, name):
        return self.GetAll(interface)[name]

    @dbus.service.method(PROPERTIES, in_signature="s", out_signature="a{sv}")
    def GetAll(self, interface):
        return {
            "RegisteredStatusNotifierItems": dbus.Array(["".join(item) for item in self.items], signature="s"),
            "IsStatusNotifierHostRegistered": dbus.Boolean(True),
            "ProtocolVersion": dbus.Int32(0),
        }


class Host:
    """Reads the newest icon that is still there and works its menu."""

    def __init__(self, bus, watcher):
        self.bus = bus
        self.watcher = watcher

    def properties(self):
        """The properties of the newest icon, or nothing where there is none."""
        for name, path in reversed(self.watcher.items):
            try:
                found = self.bus.get_object(name, path, introspect=False)
                return name, dict(dbus.Interface(found, PROPERTIES).GetAll(ITEM))
            except dbus.DBusException:
                continue  # the program of this icon has ended
        return None, {}

    def menu(self):
        name, properties = self.properties()
        if not properties.get("Menu"):
            return None, []
        found = dbus.Interface(self.bus.get_object(name, properties["Menu"], introspect=False), MENU)
        found.AboutToShow(0)
        _, (_, _, children) = found.GetLayout(0, -1, dbus.Array([], signature="s"))
        return found, list(entries(children))

    def answer(self, question):
        what = question["do"]
        if what == "item":
            _, properties = self.properties()
            pixmaps = properties.get("IconPixmap") or []
            return {
                "title": str(properties.get("Title", "")),
                "status": str(properties.get("Status", "")),
                "icon": str(properties.get("IconName", "")),
                "pixmaps": [[int(width), int(height)] for width, height, _ in pixmaps],
            }
        menu, found = self.menu()
        if what == "menu":
            return {"labels": [label for _, label, _ in found]}
        for number, label, enabled in found:
            if question["label"].lower() in label.lower():
                if not enabled:
                    return {"error": f"The tray menu's entry {label!r} is disabled."}
                menu.Event(number, "clicked", dbus.String("", variant_level=1), dbus.UInt32(0))
                return {"chosen": label}
        return {"error": f"The tray menu has no entry {question['label']!r}, only {[label for _, label, _ in found]}."}


def entries(children):
    """Number, label and state of every visible entry, submenus included."""
    for number, properties, below in children:
        label = str(properties.get("label", "")).replace("_", "")
        if label and properties.get("visible", True):
            yield int(number), label, bool(properties.get("enabled", True))
        yield from entries(below)


def main():
    DBusGMainLoop(set_as_default=True)
    bus = dbus.SessionBus()
    watcher = Watcher(bus)
    host = Host(bus, watcher)
    loop = GLib.MainLoop()

    def say(value):
        print(json.dumps(value), flush=True)

    def handle(line):
        try:
            say(host.answer(json.loads(line)))
        except dbus.DBusException as error:
            say({"labels": [], "error": str(error)})
        return GLib.SOURCE_REMOVE

    def listen():
        for line in sys.stdin:
            GLib.idle_add(handle, line)
        GLib.idle_add(loop.quit)

    threading.Thread(target=listen, daemon=True).start()
    say({"ready": True})
    loop.run()


if __name__ == "__main__":
    main()
