"""Files that survive a crash, tensors within files, and the cache of vectors."""
