@echo off
rem Starts hostwire with the Node beside this file, from any working folder.
"%~dp0node.exe" "%~dp0dist\main.js" %*
