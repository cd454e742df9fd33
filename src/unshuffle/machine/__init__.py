"""Threads and memory of the process."""
