// Asks a drive, by its kind. For probers: opening a device and an ioctl may hang.
#pragma once

#include <functional>

#include "host/drive_probe.h"

namespace hostwire {

// Asks by one admin command, Get Log Page.
std::function<DriveAnswer()> makeNvmeQuestion(const FoundDrive& drive);

// Asks for SMART, by SG_IO.
std::function<DriveAnswer()> makeAtaQuestion(const FoundDrive& drive);

}  // namespace hostwire
