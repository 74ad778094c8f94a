"""Edit YAML files in place: every byte outside the edited lines remains as it was."""
