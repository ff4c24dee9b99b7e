"""The store whose layers are files in a folder, for spaces larger than memory."""
