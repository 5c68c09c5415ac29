// How a test controls the made-up media sessions of fake_smtc.dll. Each function is exported under its name.
#pragma once

#include <cstdint>

extern "C" {
// Changes what the fake does; throws nothing, false for a command it does not know:
//   add ID AUMID            a session, the last in the list
//   remove ID
//   renew ID                another object for the same session
//   current ID | current -
//   set ID KEY VALUE        what it reports, "-" for no value: status, enabled (a mask of kEnabled…), title,
//                           artist, albumartist, album, rate, shuffle, repeat, start, end, position, updated
//   do ID KEY VALUE         how it behaves: refuse, throw, error, noinfo, hang, late (ms; -1: inline), mute,
//                           deaf, broken, stuck (ms)
//                           when it is asked for metadata: mutemetadata, losemetadata (number of questions),
//                           outrun (number answered after a later one), latemetadata (ms),
//                           errormetadata, brokenmetadata, nometadata
//   fire sessions | fire playback|timeline|metadata ID [COUNT]
//   manager KEY VALUE       throw, error, hang, late, broken, nothing, lost, getat: how the manager behaves
using FakeSmtcCommand = bool (*)(const char* command);
// How often the slot "Session.tryPlay" was called; "unexpected" counts calls that should not happen. "asked
// ID", "completed ID", "results ID": questions for a session's metadata; "read ID": its playback; "live
// KIND": objects that have references.
using FakeSmtcCount = long (*)(const char* name);
// Objects and handlers that have references.
using FakeSmtcLive = long (*)();
// The position of the last seek, in units of 100 ns.
using FakeSmtcPosition = std::int64_t (*)();
}
