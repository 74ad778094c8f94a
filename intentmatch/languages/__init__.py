"""What is particular to a language: one YAML file each, with the same sections in each."""
