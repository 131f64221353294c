"""Not `statistics`: the tests' folder is on the path, and would hide the standard library's."""
