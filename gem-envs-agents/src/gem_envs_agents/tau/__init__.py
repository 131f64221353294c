"""The published retail and airline benchmarks: their files, our tools over them, their tasks."""
