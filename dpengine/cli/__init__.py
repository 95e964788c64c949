"""The command `dpengine`: the only room of this library that reads files and prints."""
