"""Play on from a turn of a recorded episode: the turns before it are taken again as they were."""
