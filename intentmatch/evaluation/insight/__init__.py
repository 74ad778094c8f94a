"""What a registry's own lines tell its author: a map, overlaps, confusions, the price of a target, and what to mend.

Functions of values: they read no files and write none.
"""
