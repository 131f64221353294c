"""The pages of `gem-env view`: an index of a run's log, what is read from it, and a server.

Reads run folders and changes none. All text of a run is hostile, and is shown as text.
"""
