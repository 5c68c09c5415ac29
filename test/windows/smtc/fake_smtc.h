// What a test tells the made-up media sessions of fake_smtc.dll. Each function is exported under its name.
#pragma once

#include <cstdint>

extern "C" {
// Changes what the fake does; throws nothing, false for a command it does not know:
//   add ID AUMID            a session, the last in the list
//   remove ID
//   renew ID                another object for the same session
//   current ID | current -
//   set ID KEY VALUE        status, enabled (a mask of kEnabled…), title, subtitle, artist, albumartist,
//   album, rate,
//                           shuffle, repeat, start, end, position, updated: what it tells; "-" for no value
//   do ID KEY VALUE         refuse, throw, error, noinfo, hang, late (ms; -1: at once), mute, deaf, broken,
//   stuck
//                           (ms); of its metadata alone mutemetadata, losemetadata (so many questions),
//                           latemetadata (ms), errormetadata, brokenmetadata, nometadata: how it behaves
//   fire sessions | fire playback|timeline|metadata ID [COUNT]
//   manager KEY VALUE       throw, error, hang, late, broken, nothing, lost, getat: how the manager behaves
using FakeSmtcCommand = bool (*)(const char* command);
// How often the slot "Session.tryPlay" was called; "unexpected" counts those that nobody should. Of session
// ID "asked ID" and "results ID" of its metadata, "completed ID", "read ID" of its playback; "live KIND" of
// objects.
using FakeSmtcCount = long (*)(const char* name);
// Objects and handlers that have references.
using FakeSmtcLive = long (*)();
// What the last seek was told, in units of 100 ns.
using FakeSmtcPosition = std::int64_t (*)();
}
