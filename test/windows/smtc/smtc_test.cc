// The media sessions as the addon is given them by native/windows, with fake_smtc.dll in place of Windows'
// own: players, commands, refusals, news. Its argument: the path of that DLL. Compiled and run by
// smtc.test.ts.
#include "rig.h"

using namespace smtc_checks;

int wmain(int, wchar_t** arguments) {
  strikeOut();
  checkMissing();
  enroll(arguments[1]);
  if (!loadFake(arguments[1])) return checks::report();
  checkSessionZero();
  {
    Rig rig;
    check(!rig.read().absence && rig.read().players.empty(), "no sessions: no players, and nothing is wrong");
  }
  makeTwo();
  say("current a");
  {
    Rig rig;
    checkReading(rig);
    checkCommands(rig);
    checkRefusals(rig);
    checkNews(rig);
    checkHanging(rig);
    checkStuck(rig);
    checkBroken(rig);
    checkComings(rig);
  }
  checkSlow();
  checkManager();
  checkEnds();
  check(countOf("unexpected") == 0, "no slot is called that nobody should call");
  check(countOf("no handler") == 0, "every handler is what it is asked for");
  check(countOf("no token") == 0, "every token is one that was given");
  checkNothingKept();
  return checks::report();
}
