#!/usr/bin/python3
"""Unlocks the login keyring with the password on standard input, as signing in to a desktop does.

gnome-keyring offers this to PAM over a private socket and to the session over an interface that its own tools use.
"""
import sys

import dbus

SECRETS = "org.freedesktop.secrets"
service = dbus.SessionBus().get_object(SECRETS, "/org/freedesktop/secrets", introspect=False)
_, session = dbus.Interface(service, "org.freedesktop.Secret.Service").OpenSession("plain", dbus.String("", variant_level=1))
password = dbus.Struct(
    (session, dbus.ByteArray(b""), dbus.ByteArray(sys.stdin.buffer.read()), dbus.String("text/plain")), signature="oayays"
)
internal = dbus.Interface(service, "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface")
internal.UnlockWithMasterPassword(dbus.ObjectPath("/org/freedesktop/secrets/collection/login"), password)
